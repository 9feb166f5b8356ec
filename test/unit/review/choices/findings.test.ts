import { describe, expect, it } from 'vitest';
import type { Finding, Severity } from '../../../../src/core/types/finding.ts';
import type { Review } from '../../../../src/core/types/review.ts';
import { findingsOf, reachesSeverity } from '../../../../src/review/choices/findings.ts';

describe('the findings of a review', () => {
  it('are sorted by severity and then by path, wherever they are in it', () => {
    const review = reviewWith({
      items: [[finding('note', 'a')], [finding('suspect', 'c'), finding('suspect', 'b')]],
      general: [finding('blocked', 'z')],
    });
    expect(findingsOf(review).map(({ severity, path }) => `${severity} ${path}`)).toEqual([
      'blocked z',
      'suspect b',
      'suspect c',
      'note a',
    ]);
  });

  it('reach a severity that is at most as bad as the worst of them, and none without one', () => {
    const review = reviewWith({ items: [[finding('suspect', 'a')]], general: [] });
    expect(reachesSeverity('note', review)).toBe(true);
    expect(reachesSeverity('suspect', review)).toBe(true);
    expect(reachesSeverity('blocked', review)).toBe(false);
    expect(reachesSeverity(undefined, review)).toBe(false);
  });
});

function finding(severity: Severity, path: string): Finding {
  return { rule: 'rule', severity, path, message: 'a message' } as unknown as Finding;
}

function reviewWith(parts: {
  readonly items: readonly (readonly Finding[])[];
  readonly general: readonly Finding[];
}): Review {
  return { items: parts.items.map((findings) => ({ findings })), general: parts.general } as unknown as Review;
}

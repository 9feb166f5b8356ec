import { expect, it } from 'vitest';
import { mergeSources } from '../../../../../src/cli/audit/sources/merge-sources.ts';
import type { AuditedSource } from '../../../../../src/cli/audit/sources/source.ts';
import { verdictOf } from '../../../../../src/cli/audit/verdict.ts';
import type { RelPath } from '../../../../../src/core/text/path.ts';
import type { Policy } from '../../../../../src/core/types/policy.ts';
import { buildReview } from '../../../../../src/review/choices/build-review.ts';

const source = (base: string, name: string, severity: 'note' | 'blocked'): AuditedSource => ({
  label: name,
  base,
  policy: {} as Policy,
  review: buildReview({
    collected: { changes: [{ path: name as RelPath, kind: 'modified' }], problems: [], withheld: [], baseEntries: 9 },
    findings: [{ rule: 'r', severity, path: name as RelPath, title: 't', why: 'w' }],
    allowSuspect: [],
    includeIgnored: true,
  }),
});

it('has what all of them have, and a base where it is the same', () => {
  const merged = mergeSources([source('1', 'a', 'note'), source('1', 'b', 'blocked')]);
  expect(merged.review.items.map(({ change }) => change.path)).toEqual(['a', 'b']);
  expect([merged.base, merged.label, verdictOf(merged.review)]).toEqual(['1', 'a', 'forbidden']);
  expect(mergeSources([source('1', 'a', 'note'), source('2', 'b', 'note')]).base).toBe(undefined);
});

it('passes where there is nothing', () => {
  const { review, label, policy } = mergeSources([]);
  expect([verdictOf(review), label, policy]).toEqual(['pass', 'nothing to audit', undefined]);
});

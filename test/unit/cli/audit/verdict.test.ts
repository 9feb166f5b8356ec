import { expect, it } from 'vitest';
import { VERDICT_STATUS, verdictOf, worstVerdict } from '../../../../src/cli/audit/verdict.ts';
import type { RelPath } from '../../../../src/core/text/path.ts';
import type { Change } from '../../../../src/core/types/entry.ts';
import type { Finding, Severity } from '../../../../src/core/types/finding.ts';
import { buildReview } from '../../../../src/review/choices/build-review.ts';

const found = (severity: Severity, path: string): Finding => ({
  rule: 'r',
  severity,
  path: path as RelPath,
  title: 't',
  why: 'w',
});
const change = (path: string, more: Partial<Change> = {}): Change => ({
  path: path as RelPath,
  kind: 'modified',
  ...more,
});
const review = (
  changes: readonly Change[],
  findings: readonly Finding[],
  more: { allowSuspect?: string[]; includeIgnored?: boolean; baseEntries?: number; problems?: never[] } = {},
) =>
  buildReview({
    collected: { changes, problems: more.problems ?? [], withheld: [], baseEntries: more.baseEntries ?? 100 },
    findings,
    allowSuspect: more.allowSuspect ?? [],
    includeIgnored: more.includeIgnored ?? true,
  });

it('passes what has no finding, or notes alone', () => {
  expect(verdictOf(review([], []))).toBe('pass');
  expect(verdictOf(review([change('a')], [found('note', 'a')]))).toBe('pass');
});

it('needs a person where a suspect change is not allowed by its path', () => {
  expect(verdictOf(review([change('a')], [found('suspect', 'a')]))).toBe('needs a person');
  expect(verdictOf(review([change('a')], [found('suspect', 'a')], { allowSuspect: ['a'] }))).toBe('pass');
  expect(verdictOf(review([], [found('suspect', 'elsewhere')]))).toBe('needs a person');
  expect(verdictOf(review([change('.git/config', { inGit: true })], [found('suspect', '.git/config')]))).toBe(
    'needs a person',
  );
});

it('needs a person where most of the project is deleted, and not for ignored output', () => {
  const deleted = Array.from({ length: 30 }, (_, at) => change(`f${at}`, { kind: 'deleted' }));
  expect(verdictOf(review(deleted, [], { baseEntries: 40 }))).toBe('needs a person');
  const ignored = review([change('out', { ignored: true })], [found('suspect', 'out')], { includeIgnored: false });
  expect(verdictOf(ignored)).toBe('pass');
});

it('forbids what is blocked or could not be judged, whatever is allowed', () => {
  const blocked = [found('blocked', 'a'), found('suspect', 'b')];
  expect(verdictOf(review([change('a'), change('b')], blocked, { allowSuspect: ['**'] }))).toBe('forbidden');
  expect(verdictOf(review([change('a', { problem: 'unreadable' })], []))).toBe('forbidden');
  expect(verdictOf(review([], [found('blocked', 'x')]))).toBe('forbidden');
  expect(verdictOf({ ...review([], []), isUnaudited: true })).toBe('forbidden');
  expect(verdictOf({ ...review([], []), problems: [{ path: 'x' as RelPath, why: 'y' }] })).toBe('forbidden');
});

it('has a status for each, and takes the worst of several', () => {
  expect(VERDICT_STATUS).toEqual({ pass: 0, 'needs a person': 123, forbidden: 121 });
  expect(worstVerdict(['pass', 'needs a person', 'forbidden', 'pass'])).toBe('forbidden');
  expect(worstVerdict(['pass', 'needs a person'])).toBe('needs a person');
  expect(worstVerdict([])).toBe('pass');
});

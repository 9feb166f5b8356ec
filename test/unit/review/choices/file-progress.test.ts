import { expect, it } from 'vitest';
import type { RelPath } from '../../../../src/core/text/path.ts';
import type { Change, Entry } from '../../../../src/core/types/entry.ts';
import type { Finding } from '../../../../src/core/types/finding.ts';
import type { ChangeOutcome, ChangeVerdict } from '../../../../src/core/types/session.ts';
import { buildReview } from '../../../../src/review/choices/build-review.ts';
import { countProgress, fileProgress, IN_PART, joinOutcomes } from '../../../../src/review/choices/file-progress.ts';

const file = (digest: string): Entry => ({ kind: 'file', mode: 0o644, size: 1, mtimeNs: '1', digest });
const dir: Entry = { kind: 'dir', mode: 0o755, size: 0, mtimeNs: '1' };
const change = (path: string, before?: Entry, after?: Entry, more: Partial<Change> = {}): Change => ({
  path: path as RelPath,
  kind: before === undefined ? 'created' : after === undefined ? 'deleted' : 'modified',
  ...(before && { before }),
  ...(after && { after }),
  ...more,
});
const finding = (path: string, severity: Finding['severity']): Finding => ({
  rule: 'r',
  severity,
  path: path as RelPath,
  title: 'T',
  why: 'W',
});
const CHANGES = [
  change('.git/x', undefined, file('g'), { inGit: true }),
  change('Makefile', file('1'), file('2')),
  change('a', file('3'), file('4')),
  change('blocked', undefined, file('5')),
  change('built', undefined, file('6'), { ignored: true }),
  change('d', undefined, dir),
  change('d/new', undefined, file('7')),
  change('old', file('7'), undefined),
];
const review = buildReview({
  collected: { changes: CHANGES, problems: [], withheld: [], baseEntries: 9 },
  findings: [finding('Makefile', 'suspect'), finding('blocked', 'blocked')],
  allowSuspect: [],
  includeIgnored: false,
});
const outcome = (path: string, verdict: ChangeVerdict, why?: string): ChangeOutcome => ({
  path: path as RelPath,
  verdict,
  ...(why && { why }),
});

it.each<[string, ChangeOutcome[], [applied: number, left: number]]>([
  ['nothing was decided', [], [0, 3]],
  ['folders are no files', [outcome('d', 'applied')], [0, 3]],
  ['a rename is one file', [outcome('d/new', 'applied'), outcome('old', 'applied')], [1, 2]],
  ['half a rename is left', [outcome('d/new', 'applied'), outcome('old', 'conflict')], [0, 3]],
  ['the same is applied', [outcome('a', 'same'), outcome('Makefile', 'suspect')], [1, 2]],
  ['an accepted suspect file is applied', [outcome('Makefile', 'applied')], [1, 2]],
  ['some hunks of a file are not all of it', [outcome('a', 'applied', IN_PART)], [0, 3]],
  ['a file written next to another is none of the session', [outcome('a.session', 'applied')], [0, 3]],
])('%s', (_, outcomes, [applied, left]) => {
  expect(countProgress(fileProgress(review, outcomes))).toMatchObject({ total: 4, applied, left, blocked: 1 });
});

it('counts a file that the session un-ignores where it was taken', () => {
  const changes = [
    change('a', file('1'), file('2')),
    change('vim', undefined, dir, { ignored: true, unignored: 'vim' }),
    change('vim/x', undefined, file('3'), { ignored: true, unignored: 'vim' }),
    change('vim/y', undefined, file('4'), { ignored: true, unignored: 'vim' }),
  ];
  const some = buildReview({
    collected: { changes, problems: [], withheld: [], baseEntries: 9 },
    findings: [],
    allowSuspect: [],
    includeIgnored: false,
  });
  const counted = (...outcomes: ChangeOutcome[]) => countProgress(fileProgress(some, outcomes));
  expect(counted(outcome('vim', 'applied'), outcome('vim/x', 'applied'), outcome('vim/y', 'conflict'))).toMatchObject({
    total: 3,
    applied: 1,
    left: 2,
  });
  expect(counted(outcome('vim/x', 'suspect'), outcome('vim/y', 'withheld'))).toMatchObject({ total: 1, left: 1 });
});

it('keeps the result of an earlier apply for paths that a later one does not name', () => {
  const joined = joinOutcomes(
    [outcome('a', 'applied'), outcome('b', 'suspect'), outcome('c', 'conflict')],
    [outcome('b', 'applied')],
  );
  expect(joined.map(({ path, verdict }) => [path, verdict])).toEqual([
    ['a', 'applied'],
    ['b', 'applied'],
  ]);
});

it('keeps a file as applied in part until it is applied as a whole', () => {
  const part = [outcome('a', 'applied', IN_PART)];
  expect(countProgress(fileProgress(review, joinOutcomes(part, [outcome('a', 'conflict')])))).toMatchObject({
    inPart: 1,
  });
  const whole = joinOutcomes(part, [outcome('a', 'applied')]);
  expect(countProgress(fileProgress(review, whole))).toMatchObject({ inPart: 0, applied: 1 });
});

import { expect, it } from 'vitest';
import type { ReviewItem } from '../../../../src/core/types/review.ts';
import { type FileProgress, IN_PART, type ProgressCounts } from '../../../../src/review/choices/file-progress.ts';
import {
  acceptAdvice,
  allowOptions,
  appliedLines,
  leftLines,
  progressLine,
  resultLine,
} from '../../../../src/review/screen/outcome-lines.ts';

const one = (
  path: string,
  verdict: FileProgress['verdict'],
  why?: string,
  more: Partial<ReviewItem> = {},
): FileProgress => ({
  item: { change: { path, kind: 'modified' }, state: 'clean', findings: [], ...more } as unknown as ReviewItem,
  verdict,
  ...(why && { why }),
});
const suspect = (path: string) => one(path, 'suspect', 'Make runs it', { state: 'suspect' });

it.each<[ProgressCounts, string | undefined, string]>([
  [
    { total: 5, applied: 3, left: 2, inPart: 0, blocked: 0 },
    'today 14:03',
    '3 of 5 files are applied (today 14:03), 2 are left',
  ],
  [{ total: 1, applied: 0, left: 1, inPart: 0, blocked: 0 }, undefined, '0 of 1 file is applied, 1 is left'],
  [{ total: 1, applied: 1, left: 0, inPart: 0, blocked: 0 }, undefined, '1 file is applied'],
  [
    { total: 3, applied: 1, left: 1, inPart: 1, blocked: 1 },
    undefined,
    '2 of 3 files are applied, 1 of them in part, 1 is blocked',
  ],
])('prints for %j what is applied and what is left', (counts, when, text) => {
  expect(progressLine(counts, when)).toBe(text);
});

it.each([
  [{ total: 1, applied: 0, left: 1, inPart: 0, blocked: 0 }, '0 of 1 file is applied, 1 was discarded'],
  [{ total: 3, applied: 1, left: 2, inPart: 0, blocked: 0 }, '1 of 3 files is applied, 2 were discarded'],
  [{ total: 2, applied: 2, left: 0, inPart: 0, blocked: 0 }, '2 files are applied'],
])('says of a discarded session that the rest was discarded: %j', (counts, text) => {
  expect(progressLine(counts, undefined, true)).toBe(text);
});

it('prints the result of one apply, counted in files', () => {
  const files = [one('a', 'applied'), one('b', 'skipped', `applied ${IN_PART}`), one('c', 'same'), suspect('Makefile')];
  expect(resultLine(files, 'Applied', 'in the project')).toBe(
    'Applied 2 of 4 files, 1 of them in part; 1 was in the project already.',
  );
  expect(resultLine([one('a', 'applied')], 'Would apply', 'in HEAD')).toBe('Would apply 1 of 1 file.');
});

it('names the remaining changes with reasons, a rename by both names, without control characters', () => {
  const files = [
    one('d/new\u001b[2J', 'conflict', 'changed on the host', { renamedFrom: 'old' }),
    suspect('Makefile'),
    one('x', 'waiting', undefined, { state: 'suspect' }),
    one('done', 'applied'),
    one('never', 'blocked'),
  ];
  expect(leftLines(files)).toEqual([
    'left: old → d/new\\x1b[2J (conflict: changed on the host)',
    'left: Makefile (suspect: Make runs it)',
    'left: x (suspect, not decided)',
  ]);
  const open = ['app.db', 'app.db-wal'].map((name) => one(name, 'conflict', 'the database is open'));
  expect(leftLines([...open, suspect('a'), suspect('b')])).toEqual([
    'left: app.db, app.db-wal (conflict: the database is open)',
    'left: a (suspect: Make runs it)',
    'left: b (suspect: Make runs it)',
  ]);
  expect(appliedLines(files)).toEqual(['applied: done']);
  const many = Array.from({ length: 12 }, (_, at) => one(`f${at}`, 'waiting'));
  expect(leftLines(many)).toHaveLength(11);
  expect(leftLines(many).at(-1)).toBe('left: 2 more');
});

it('prints how to accept suspect files, with globs that match only these paths', () => {
  expect(
    acceptAdvice('run-claude apply ID', [one('a', 'suspect', 'the session deletes 30 of 40 entries')]),
  ).toBeUndefined();
  expect(acceptAdvice('run-claude apply ID', [suspect('Makefile'), suspect('ci/x.yml')])).toBe(
    'Suspect changes need a yes: on a terminal, or with: run-claude apply ID --yes --allow-suspect /Makefile --allow-suspect ci/x.yml',
  );
  // A path of the session that a shell or the ignore language would read otherwise is not spelled out.
  expect(allowOptions(['$(x)', '*', 'a b'])).toBe('--allow-suspect GLOB');
  expect(allowOptions(['a/1', 'a/2', 'a/3', 'a/4'])).toBe('--allow-suspect GLOB');
});

import { expect, it } from 'vitest';
import type { RelPath } from '../../../../src/core/text/path.ts';
import type { Finding } from '../../../../src/core/types/finding.ts';
import type { MadeCommits } from '../../../../src/core/types/session.ts';
import { buildReview } from '../../../../src/review/choices/build-review.ts';
import { commitLines, importCommand } from '../../../../src/review/screen/commit-lines.ts';
import { summaryLines } from '../../../../src/review/screen/summary.ts';

const one = (repository: string, ...titles: string[]): MadeCommits => ({ repository, titles, count: titles.length });
const gitData = (path: string): Finding => ({
  rule: 'git-data',
  severity: 'note',
  path: path as RelPath,
  title: "Git's own data changed",
  why: 'Objects, refs, index and logs stay in the copy.',
  detail: '8 files',
});

it('names the commits by repository and title, and cleans what an agent wrote', () => {
  expect(
    commitLines([
      one('', 'Fix the parser'),
      { repository: 'lib', count: 5, titles: ['c', 'b', 'a'] },
      one('a\u001b[2Jb', `hidden\u001b[31m${'x'.repeat(200)}`),
    ]),
  ).toEqual([
    '1 commit: Fix the parser',
    'lib: 5 commits: c; b; a; 2 more',
    expect.stringMatching(/^a[^\u001b]*b: 1 commit: hidden[^\u001b]{1,80}…$/),
  ]);
  const many = Array.from({ length: 25 }, (_, at) => one(`r${at}`, 't'));
  expect(commitLines(many)).toHaveLength(21);
  expect(commitLines(many).at(-1)).toBe('Commits in 5 more repositories');
});

it('stands for what git itself wrote, with commits and without', () => {
  const review = buildReview({
    collected: { changes: [], problems: [], withheld: [], baseEntries: 1 },
    findings: [
      gitData('.git'),
      gitData('web/.git'),
      { ...gitData('web/.git/x'), rule: 'git-unknown', title: 'Unknown' },
    ],
    allowSuspect: [],
    includeIgnored: false,
  });
  const texts = (commits: readonly MadeCommits[]): string[] =>
    summaryLines({ ...review, commits }).map(({ text }) => text);
  expect(texts([one('api', 'in a nested repository')])).toEqual([
    'No files changed',
    'api: 1 commit: in a nested repository',
    'Unknown: web/.git/x: 8 files',
  ]);
  // After a checkout.
  expect(texts([])).toEqual(['No files changed', 'Unknown: web/.git/x: 8 files']);
  const unlisted = summaryLines(review).map(({ text }) => text);
  expect(unlisted.filter((text) => text.includes("Git's own data"))).toHaveLength(2);
});

it('names the command for what was neither imported nor refused', () => {
  const command = 'run-claude commits id --import';
  const taken = (repository: string, how: 'imported' | 'refused') => ({ ...one(repository, 't'), taken: how });
  expect(importCommand('id', undefined)).toBe(command);
  expect(importCommand('id', [one('', 't'), one('lib', 't')])).toBe(command);
  expect(importCommand('id', [one('', 't'), taken('lib', 'imported')])).toBe(`${command} --only .`);
  expect(importCommand('id', [taken('', 'refused'), one('a b', 't'), one('lib', 't')])).toBe(
    `${command} --only 'a b' --only lib`,
  );
  expect(importCommand('id', [taken('', 'refused'), taken('lib', 'imported')])).toBeUndefined();
});

it('shows the command below the titles where a question follows', () => {
  const collected = { changes: [], problems: [], withheld: [], baseEntries: 1 };
  const review = buildReview({ collected, findings: [], allowSuspect: [], includeIgnored: false });
  const commits = [one('', 'Fix the parser')];
  expect(
    summaryLines({ ...review, commits }, undefined, 'run-claude commits id --import').map(({ text }) => text),
  ).toEqual([
    'No files changed',
    '1 commit: Fix the parser',
    'The commits are imported by: run-claude commits id --import',
  ]);
});

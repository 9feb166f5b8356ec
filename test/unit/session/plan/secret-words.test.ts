import { expect, test } from 'vitest';
import type { SecretFile } from '../../../../src/core/types/secret/secret-file.ts';
import { secretLines, secretWords, unsearchedLines } from '../../../../src/session/plan/secret-words.ts';

const file = (path: string, state: SecretFile['state'] = 'masked'): SecretFile => ({ path, reason: 'key file', state });

test('the start screen names three files of each state', () => {
  expect(secretWords([])).toEqual([]);
  expect(secretWords([file('$&.env')])).toEqual(['1 file masked ($&.env): --unmask GLOB shows one to the agent']);
  expect(secretWords(['a', 'b', 'c', 'd'].map((one) => file(one)))).toEqual([
    '4 files masked (a, b, c, …): --unmask GLOB shows one to the agent',
  ]);
  expect(secretWords([file('a', 'tracked'), file('b', 'unmasked'), file('c', 'by-content')])).toEqual([
    '1 file readable, by --unmask (b)',
    '1 file readable, since git has them (a)',
    '1 file readable (c): ignore it, or use --mask',
  ]);
});

test('a list has each file with its reason, cleaned', () => {
  expect(secretLines([file('a\u001b.key'), file('b.key', 'tracked')])).toEqual([
    expect.stringMatching(/^a[^\u001b]+\.key \(key file\): masked$/),
    'b.key (key file): readable: git tracks it',
  ]);
});

test('what git has of a masked file, and lacks of a tracked one, is named', () => {
  const files: readonly SecretFile[] = [
    { ...file('.env'), isInGit: true },
    { ...file('new.env'), isInGit: false },
    { ...file('prod.env', 'tracked'), isInGit: false },
    { ...file('old.env', 'tracked'), isInGit: true },
  ];
  expect(secretWords(files, ['a', 'b', 'c', 'd', 'e', 'f', 'g'])).toEqual([
    '2 files masked (.env, new.env): --unmask GLOB shows one to the agent',
    "1 file masked, but readable in git's objects (.env)",
    '1 file readable, since git has them (old.env)',
    '1 file readable, with content that is not in git (prod.env): use --mask',
    '7 files not searched (a, b, c, …): large, or too many; --mask GLOB empties one',
  ]);
  expect(secretLines(files).map((line) => line.split(': ').at(1))).toEqual([
    "masked, but git's objects have the same content",
    'masked',
    'readable',
    'readable',
  ]);
});

test('a list names files that were not searched, up to a limit', () => {
  expect(unsearchedLines(['a\u001b'])).toEqual([expect.stringMatching(/^a[^\u001b]+: not searched$/)]);
  const lines = unsearchedLines(Array.from({ length: 60 }, (_, number) => `${number}.log`));
  expect([lines.length, lines.at(-1)]).toEqual([51, '10 more not searched']);
});

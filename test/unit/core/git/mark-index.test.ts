import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { type Lack, markIndex } from '../../../../src/core/git/mark-index.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-mark-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const NAMES = ['.env', 'a', 'private/key', 'private/ünï', 'src/b/c', 'src/cd', 'x'.repeat(200)];
const LACKING: Readonly<Record<string, Lack>> = { '.env': 'empty', 'private/key': 'absent', 'private/ünï': 'absent' };
const lackOf = (name: string): Lack | undefined => LACKING[name];

function repository(name: string, format = 'sha1') {
  const at = path.join(dir, name);
  mkdirSync(at);
  const git = (...words: string[]): string =>
    execFileSync(
      'git',
      ['-c', 'core.quotePath=false', '-c', 'user.name=P', '-c', 'user.email=p@example.org', ...words],
      {
        cwd: at,
        encoding: 'utf8',
      },
    );
  git('init', '-q', `--object-format=${format}`);
  for (const one of NAMES) {
    mkdirSync(path.dirname(path.join(at, one)), { recursive: true });
    writeFileSync(path.join(at, one), one);
  }
  git('add', '-A');
  git('commit', '-qm', 'first');
  const file = path.join(at, '.git/index');
  return { at, git, index: () => readFileSync(file), put: (bytes: Buffer) => writeFileSync(file, bytes) };
}

it.each([
  ['sha1', 2],
  ['sha1', 4],
  ['sha256', 2],
  ['sha256', 4],
] as const)('git add -A and commit -a pass over what is marked (%s, version %i)', (format, version) => {
  const { at, git, index, put } = repository(`${format}-${version}`, format);
  const bytes = format === 'sha1' ? 20 : 32;
  git('update-index', `--index-version=${version}`);
  put(markIndex(index(), lackOf, bytes) ?? Buffer.alloc(0));
  expect(git('ls-files', '-v').split('\n').slice(0, 5)).toEqual([
    // Lower case: assume-unchanged as well.
    's .env',
    'H a',
    'S private/key',
    'S private/ünï',
    'H src/b/c',
  ]);
  rmSync(path.join(at, 'private'), { recursive: true });
  writeFileSync(path.join(at, '.env'), '');
  writeFileSync(path.join(at, 'a'), 'edited');
  expect(git('status', '--porcelain')).toBe(' M a\n');
  git('add', '-A');
  git('commit', '-qam', 'second');
  expect(git('diff', '--name-status', 'HEAD~', 'HEAD')).toBe('M\ta\n');
  expect(git('fsck')).toBe('');
  expect(git('reset', '-q', '--hard', 'HEAD~')).toBe('');
  expect(readFileSync(path.join(at, '.env'), 'utf8')).toBe('');
});

it('keeps a mark of an empty file in a sparse checkout, where git drops the first mark', () => {
  const { at, git, index, put } = repository('sparse');
  git('config', 'core.sparseCheckout', 'true');
  mkdirSync(path.join(at, '.git/info'), { recursive: true });
  writeFileSync(path.join(at, '.git/info/sparse-checkout'), '/*\n');
  put(markIndex(index(), lackOf) ?? Buffer.alloc(0));
  writeFileSync(path.join(at, '.env'), '');
  expect(git('status', '--porcelain')).toBe('');
});

it('keeps entries with later flags, extensions and an index without a checksum', () => {
  const { git, index, put } = repository('flags');
  git('update-index', '--skip-worktree', 'a');
  git('rm', '-q', '--cached', 'src/cd');
  git('add', '-N', 'src/cd');
  git('-c', 'index.threads=1', '-c', 'index.skipHash=true', 'add', '-A', '--', 'src/b');
  const before = git('ls-files', '--debug', 'src');
  put(markIndex(index(), lackOf) ?? Buffer.alloc(0));
  expect(git('ls-files', '-v', 'a', 'private')).toBe('S a\nS private/key\nS private/ünï\n');
  expect(git('ls-files', '--debug', 'src')).toBe(before);
  expect(git('status', '--porcelain')).toContain('src/cd');
});

it('gives back the same bytes where nothing is marked, and nothing for a split, damaged or cut index', () => {
  const { git, index } = repository('split');
  const whole = index();
  expect(markIndex(whole, () => undefined)).toBe(whole);
  for (let length = 0; length < whole.length; length += 7)
    expect(markIndex(whole.subarray(0, length), lackOf)).toBeUndefined();
  git('update-index', '--split-index');
  expect(markIndex(index(), lackOf)).toBeUndefined();
});

it('leaves entries in conflict as they are', () => {
  const { at, git, index } = repository('conflict');
  for (const branch of ['one', 'two']) {
    git('checkout', '-q', '-B', branch, branch === 'one' ? 'HEAD' : 'HEAD~');
    writeFileSync(path.join(at, '.env'), branch);
    git('commit', '-qam', branch);
  }
  expect(() => git('merge', '-q', 'one')).toThrow();
  expect(git('ls-files', '--stage', '.env').trim().split('\n')).toHaveLength(3);
  const bytes = index();
  expect(markIndex(bytes, (name) => (name === '.env' ? 'empty' : undefined))).toBe(bytes);
});

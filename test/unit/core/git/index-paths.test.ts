import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { allIndexPaths, indexPaths } from '../../../../src/core/git/index-paths.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-index-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const repository = (name: string, format: string): { git: (...words: string[]) => string; index: () => Buffer } => {
  const at = path.join(dir, name);
  mkdirSync(at);
  const git = (...words: string[]): string =>
    execFileSync('git', ['-c', 'core.quotePath=false', ...words], { cwd: at, encoding: 'utf8' });
  git('init', '-q', `--object-format=${format}`);
  for (const one of ['a', 'b/c', 'b/cd', 'b/ünï', 'x'.repeat(200), 'name\nof two', 'build/kept.txt']) {
    mkdirSync(path.dirname(path.join(at, one)), { recursive: true });
    writeFileSync(path.join(at, one), one);
  }
  git('add', '-A');
  return { git, index: () => readFileSync(path.join(at, '.git/index')) };
};
const listed = (text: string): string[] => text.split('\0').filter((one) => one !== '');

it.each(['sha1', 'sha256'])('returns the paths of git ls-files, in every version of the format (%s)', (format) => {
  const { git, index } = repository(format, format);
  const bytes = format === 'sha1' ? 20 : 32;
  for (const version of [2, 4]) {
    git('update-index', `--index-version=${version}`);
    expect(index().readUInt32BE(4)).toBe(version);
    expect([...indexPaths(index(), bytes)]).toEqual(listed(git('ls-files', '-z')));
    expect(allIndexPaths(index(), bytes)).toEqual(indexPaths(index(), bytes));
  }
  // Version 3 is what git writes once an entry has one of the later flags.
  git('update-index', '--index-version=2');
  git('update-index', '--skip-worktree', 'b/c');
  expect(index().readUInt32BE(4)).toBe(3);
  expect([...indexPaths(index(), bytes)]).toEqual(listed(git('ls-files', '-z')));
});

it('returns the readable paths of a truncated file, and none of another file', () => {
  const whole = repository('cut', 'sha1').index();
  const all = [...indexPaths(whole)];
  for (let length = 0; length < whole.length; length += 7) {
    const some = [...indexPaths(whole.subarray(0, length))];
    expect(all.slice(0, some.length)).toEqual(some);
  }
  expect(indexPaths(Buffer.from('no index at all')).size).toBe(0);
});

it('returns no set as whole where the file does not have all paths', () => {
  const { git, index } = repository('split', 'sha1');
  const whole = index();
  expect(allIndexPaths(whole)?.size).toBeGreaterThan(6);
  for (let length = 0; length < whole.length; length += 7)
    expect(allIndexPaths(whole.subarray(0, length))).toBeUndefined();
  git('update-index', '--split-index');
  expect(allIndexPaths(index())).toBeUndefined();
});

import { execFileSync, spawnSync } from 'node:child_process';
import { lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { askedBack, baseIgnoreRules } from '../../../src/collector/ignored.ts';
import type { ListedEntry } from '../../../src/types/collector.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-ignored-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const files: Readonly<Record<string, string>> = {
  '.gitignore': 'build/\n*.log\n!keep.log\n/only-top\nsub/**/deep\n',
  'src/.gitignore': '!again.log\n*.tmp\n',
  'build/out.js': 'x',
  'build/tracked.js': 'x',
  'a.log': 'x',
  'keep.log': 'x',
  'forced.log': 'x',
  'src/again.log': 'x',
  'src/b.tmp': 'x',
  'src/only-top': 'x',
  'only-top': 'x',
  'sub/one/two/deep': 'x',
  'hidden/secret': 'x',
  'plain.txt': 'x',
  'src/Build/out.js': 'x',
  'UPPER.LOG': 'x',
};

/** What the collector tells, from a directory that no agent has seen. */
const reader = {
  stat: async (_root: string, one: string): Promise<ListedEntry | undefined> => {
    const found = lstatSync(path.join(dir, one), { throwIfNoEntry: false });
    return found === undefined ? undefined : ({ kind: 'file', size: found.size } as ListedEntry);
  },
  async *readUpTo(_root: string, one: string): AsyncGenerator<Buffer> {
    yield readFileSync(path.join(dir, one));
  },
};

it.each([
  ['sha1', 'false'],
  ['sha256', 'false'],
  ['sha1', 'true'],
])('ignores what git ignores, and no tracked file (%s, core.ignorecase %s)', async (format, caseless) => {
  rmSync(dir, { recursive: true, force: true });
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
    writeFileSync(path.join(dir, name), text);
  }
  const git = (...words: string[]): string => execFileSync('git', words, { cwd: dir, encoding: 'utf8' });
  git('init', '-q', `--object-format=${format}`);
  git('config', 'core.ignorecase', caseless);
  writeFileSync(path.join(dir, '.git/info/exclude'), 'hidden\n');
  git('add', 'plain.txt');
  git('add', '-f', 'forced.log', 'build/tracked.js');

  const rules = baseIgnoreRules(reader);
  const ours: string[] = [];
  for (const name of Object.keys(files)) if ((await rules.top(name, false)) !== undefined) ours.push(name);
  const oracle = spawnSync('git', ['check-ignore', ...Object.keys(files)], { cwd: dir, encoding: 'utf8' }).stdout;
  expect(ours).toEqual(oracle.trim().split('\n'));
  expect(ours).toContain('build/out.js');
  expect(ours).not.toContain('forced.log');
  expect(ours.includes('UPPER.LOG')).toBe(caseless === 'true');
  expect(await rules.top('build/new/file.js', false)).toBe('build');
});

it('brings back what --include-ignored names, with its letter case', () => {
  const some = askedBack(['dist/', '*.log', '!no.log']);
  expect(['dist', 'Dist'].map((dir) => some(dir, true))).toEqual([true, false]);
  expect(['a.log', 'a.LOG', 'no.log', 'dist/x'].map((file) => some(file, false))).toEqual([true, false, false, true]);
  expect([askedBack(true)('a', false), askedBack(false)('a', false), askedBack([])('a', false)]).toEqual([
    true,
    false,
    false,
  ]);
});

it('matches patterns and deep paths that would take a backtracking matcher for ever', async () => {
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir);
  writeFileSync(path.join(dir, '.gitignore'), `**/${'a/**/'.repeat(12)}b\n**/c/**/e\n/out\n`);
  const rules = baseIgnoreRules(reader);
  expect(await rules.top(`${'a/'.repeat(60)}d`, false)).toBeUndefined();
  expect(await rules.top(`${'a/'.repeat(200)}c/e`, false)).toBeUndefined();
  expect(await rules.top('a/c/a/e', false)).toBe('a/c/a/e');
  expect(await rules.top(`out/${'a/'.repeat(200)}d`, false)).toBe('out');
});

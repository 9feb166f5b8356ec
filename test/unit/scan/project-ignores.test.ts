import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { withoutIgnored } from '../../../src/scan/project-ignores.ts';
import { EVERYTHING, type Selection } from '../../../src/scan/selection.ts';
import { walkTree } from '../../../src/scan/walk.ts';

let root: string;

const git = (cwd: string, ...words: string[]): string =>
  execFileSync('git', ['-c', 'user.name=P', '-c', 'user.email=p@example.org', ...words], { cwd, encoding: 'utf8' });

function put(name: string, content = 'x\n'): void {
  const file = path.join(root, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, content);
}

beforeAll(() => {
  root = mkdtempSync(path.join(tmpdir(), 'run-claude-ignores-'));
  git(root, 'init', '-q');
  put('.gitignore', 'node_modules/\n*.log\n/build/*\n!/build/keep\n!important.log\nkept-dir/\n');
  put('sub/.gitignore', '*.tmp\n!debug.log\n/deep/**/cache\n');
  put('.git/info/exclude', 'private.txt\n');
  for (const name of ['tracked.log', 'kept-dir/tracked', 'src/a.ts', 'sub/a.ts']) put(name);
  git(root, 'add', '-f', '.gitignore', 'sub', 'src', 'tracked.log', 'kept-dir/tracked');
  git(root, 'commit', '-qm', 'first');
  const untracked = ['node_modules/a/index.js', 'a.log', 'important.log', 'build/out', 'build/keep', 'kept-dir/other'];
  const below = [
    'sub/x.tmp',
    'sub/debug.log',
    'sub/deep/a/b/cache/1',
    'sub/node_modules/b/c',
    'x.tmp',
    'private.txt',
    'new.ts',
  ];
  for (const name of [...untracked, ...below]) put(name);
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

async function copied(selection: Selection, at = root): Promise<string[]> {
  const { snapshot } = await walkTree({ root: at, selection, signal: new AbortController().signal });
  return [...snapshot.keys()].filter((dir) => !/^\.git(\/|$)/.test(dir)).sort();
}

it('leaves out what git calls ignored, and nothing that it tracks', () => {
  const selection = withoutIgnored(EVERYTHING, root, []);
  const isOut = (file: string): boolean => {
    const parts = file.split('/');
    const above = parts.map((_, at) => parts.slice(0, at).join('/')).filter((dir) => dir !== '');
    return above.some((dir) => selection.leftOut(dir, true)) || selection.leftOut(file, false);
  };
  const list = (...words: string[]): string[] =>
    git(root, 'ls-files', ...words)
      .trim()
      .split('\n');
  const ignored = list('-o', '-i', '--exclude-standard');
  const others = [...list(), ...list('-o', '--exclude-standard')];
  expect(ignored.length).toBeGreaterThan(7);
  expect(ignored.filter((file) => !isOut(file))).toEqual([]);
  expect(others.filter(isOut)).toEqual([]);
});

it('does not enter a directory that is ignored', async () => {
  expect(await copied(EVERYTHING)).toContain('node_modules/a');
  const dirs = await copied(withoutIgnored(EVERYTHING, root, []));
  expect(dirs).not.toContain('node_modules');
  expect(dirs).toEqual(['', 'build', 'kept-dir', 'src', 'sub', 'sub/deep', 'sub/deep/a', 'sub/deep/a/b']);
});

it('copies what --include names, and keeps the rules of the selection', () => {
  const masked: Selection = { any: true, masked: () => true, leftOut: (one) => one === 'src' };
  const selection = withoutIgnored(masked, root, ['a.log', 'node_modules/']);
  expect(selection.leftOut('a.log', false)).toBe(false);
  expect(selection.leftOut('node_modules', true)).toBe(false);
  expect(selection.leftOut('private.txt', false)).toBe(true);
  expect([selection.leftOut('src', true), selection.masked('x')]).toEqual([true, true]);
});

it('reads the rules of the repository of a linked worktree, and of a folder without one', async () => {
  const linked = path.join(root, '..', `${path.basename(root)}-linked`);
  git(root, 'worktree', 'add', '-q', linked);
  try {
    writeFileSync(path.join(linked, 'private.txt'), '');
    const selection = withoutIgnored(EVERYTHING, linked, []);
    expect(selection.leftOut('private.txt', false)).toBe(true);
    expect(selection.leftOut('tracked.log', false)).toBe(false);
    rmSync(path.join(linked, '.git'));
    const plain = withoutIgnored(EVERYTHING, linked, []);
    expect(plain.leftOut('private.txt', false)).toBe(false);
    expect(plain.leftOut('a.log', false)).toBe(true);
  } finally {
    rmSync(linked, { recursive: true, force: true });
  }
});

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EVERYTHING, type Selection } from '../../../../src/core/text/selection.ts';
import { withoutIgnored } from '../../../../src/workspace/scan/project-ignores.ts';
import { walkTree } from '../../../../src/workspace/scan/walk.ts';

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

/** Whether the copy does not have a file: it, or a directory above it, is left out. */
const isOutOf =
  (selection: Selection) =>
  (file: string): boolean => {
    const parts = file.split('/');
    const above = parts.map((_, at) => parts.slice(0, at).join('/')).filter((dir) => dir !== '');
    return above.some((dir) => selection.leftOut(dir, true)) || selection.leftOut(file, false);
  };
/** Paths as git lists them, which begin at `cwd`. */
const list = (cwd: string, ...words: string[]): string[] =>
  git(cwd, 'ls-files', '-z', ...words)
    .split('\0')
    .filter((file) => file !== '');

/** Compares the copy of `cwd`, a repository at `at` in `project`, with what git says of it. Returns what is ignored. */
function compareWithGit(project: string, at = ''): readonly string[] {
  const isOut = isOutOf(withoutIgnored(EVERYTHING, project, []));
  const named = (...words: string[]): string[] =>
    list(path.join(project, at), ...words)
      .map((file) => path.posix.join(at, file))
      .filter((file) => !file.endsWith('/'));
  const ignored = named('-o', '-i', '--exclude-standard');
  expect(ignored.filter((file) => !isOut(file))).toEqual([]);
  expect([...named(), ...named('-o', '--exclude-standard')].filter(isOut)).toEqual([]);
  return ignored;
}

it('leaves out what git calls ignored, and nothing that it tracks', () => {
  expect(compareWithGit(root).length).toBeGreaterThan(7);
});

it('takes what a deeper file brings back as git does, with all that is below', async () => {
  const at = path.join(root, 'deeper');
  put('deeper/.gitignore', 'out/\n*.log\n/a/gen/*\nodd */\n');
  put('deeper/a/.gitignore', '!out/\n!gen/keep\n!odd \\[x] \\*/\n');
  put('deeper/a/out/b/.gitignore', 'never\n');
  const files = ['out/1', 'a/out/1', 'a/out/b/2', 'a/out/b/never', 'a/out/3.log', 'a/out/b/c/out/4', 'a/gen/keep/5'];
  const odd = ['a/gen/6', 'a/odd [x] */7', 'a/odd [x] */8.log', 'a/odd y/9'];
  for (const name of [...files, ...odd]) put(`deeper/${name}`);
  git(at, 'init', '-q');
  expect([...compareWithGit(at)].sort()).toEqual([
    'a/gen/6',
    'a/odd [x] */8.log',
    'a/odd y/9',
    'a/out/3.log',
    'a/out/b/never',
    'out/1',
  ]);
  rmSync(at, { recursive: true });
});

describe('a repository inside the project', () => {
  const commit = (cwd: string, ...files: string[]): void => {
    git(cwd, 'add', '-f', ...files);
    git(cwd, 'commit', '-qm', 'one');
  };
  let at: string;

  beforeAll(() => {
    at = path.join(root, 'outer');
    for (const name of ['', 'nested', 'vendor/module', 'node_modules/clone']) {
      mkdirSync(path.join(at, name), { recursive: true });
      git(path.join(at, name), 'init', '-q');
    }
    put('outer/.gitignore', '*.log\nvendor/\nnode_modules/\nbuild/\n');
    for (const own of ['nested', 'vendor/module', 'node_modules/clone']) {
      put(`outer/${own}/.gitignore`, '*.tmp\n');
      put(`outer/${own}/.git/info/exclude`, 'private\n');
      for (const name of ['tracked.log', 'tracked.tmp', 'build/a', 'x.tmp', 'private', 'other.log'])
        put(`outer/${own}/${name}`);
      commit(path.join(at, own), '.gitignore', 'tracked.log', 'tracked.tmp', 'build');
    }
    // Names that rules match, in directories of git.
    put('outer/nested/.git/x.log');
    commit(at, '.gitignore', 'vendor/module');
  });

  afterAll(() => rmSync(at, { recursive: true, force: true }));

  it('has the rules and the index of its own', () => {
    compareWithGit(at);
    for (const own of ['nested', 'vendor/module'])
      expect(compareWithGit(at, own)).toEqual([`${own}/private`, `${own}/x.tmp`]);
  });

  it('is left out where the project ignores it, unless it is a submodule', () => {
    const isOut = isOutOf(withoutIgnored(EVERYTHING, at, []));
    expect(isOut('node_modules/clone/tracked.log')).toBe(true);
    expect(isOut('vendor/module/tracked.log')).toBe(false);
    expect(isOut('nested/.git/x.log')).toBe(false);
  });

  it('hides nothing that the project tracks, and is none without the files of one', () => {
    const isOut = (): ((file: string) => boolean) => isOutOf(withoutIgnored(EVERYTHING, at, []));
    for (const name of ['plain/.gitignore', 'plain/kept.tmp']) put(`outer/${name}`, '*.tmp\n');
    git(at, 'add', '-f', 'plain');
    git(path.join(at, 'plain'), 'init', '-q');
    put('outer/plain/x.log');
    expect([isOut()('plain/kept.tmp'), isOut()('plain/x.log')]).toEqual([false, false]);
    rmSync(path.join(at, 'plain/.git/HEAD'));
    expect([isOut()('plain/kept.tmp'), isOut()('plain/x.log')]).toEqual([false, true]);
  });

  it.each([
    ['is split', (own: string) => void git(own, 'update-index', '--split-index')],
    ['is damaged', (own: string) => writeFileSync(path.join(own, '.git/index'), 'DIRC')],
    ['is too large', (own: string) => truncateSync(path.join(own, '.git/index'), (1 << 26) + 1)],
  ])('keeps everything where its index %s', (_what, change) => {
    const own = path.join(at, 'nested');
    change(own);
    const isOut = isOutOf(withoutIgnored(EVERYTHING, at, []));
    expect(['nested/x.tmp', 'nested/private', 'nested/tracked.tmp'].filter(isOut)).toEqual([]);
    expect(isOut('vendor/module/x.tmp')).toBe(true);
    rmSync(path.join(own, '.git/index'));
    git(own, 'reset', '-q');
  });
});

it('does not enter a directory that is ignored', async () => {
  expect(await copied(EVERYTHING)).toContain('node_modules/a');
  const dirs = await copied(withoutIgnored(EVERYTHING, root, []));
  expect(dirs).not.toContain('node_modules');
  expect(dirs).toEqual(['', 'build', 'kept-dir', 'src', 'sub', 'sub/deep', 'sub/deep/a', 'sub/deep/a/b']);
});

it('copies what --include names, and keeps the rules of the selection', () => {
  const masked: Selection = { any: true, key: 'src', masked: () => true, leftOut: (one) => one === 'src' };
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

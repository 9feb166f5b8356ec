import { execFileSync, spawnSync } from 'node:child_process';
import { lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ListedEntry } from '../../../../src/core/types/collector.ts';
import { askedBack, baseIgnoreRules } from '../../../../src/workspace/collector/ignored.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-ignored-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function put(name: string, content = 'x\n'): void {
  const file = path.join(dir, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, content);
}

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
    const kind = found?.isDirectory() === true ? 'dir' : 'file';
    return found === undefined ? undefined : ({ kind, size: found.size } as ListedEntry);
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

const list = (cwd: string, ...words: string[]): string[] =>
  execFileSync('git', ['ls-files', '-z', ...words], { cwd, encoding: 'utf8' })
    .split('\0')
    .filter((file) => file !== '' && !file.endsWith('/'));

/** Compares the rules with what git says of the repository at `at`. Returns what is ignored. */
async function compareWithGit(at = ''): Promise<readonly string[]> {
  const rules = baseIgnoreRules(reader);
  const named = (...words: string[]): string[] =>
    list(path.join(dir, at), ...words).map((file) => path.posix.join(at, file));
  const ignored = async (files: readonly string[]): Promise<string[]> => {
    const tops = await Promise.all(files.map((file) => rules.top(file, false)));
    return files.filter((_, index) => tops[index] !== undefined);
  };
  const own = named('-o', '-i', '--exclude-standard');
  expect(await ignored(own)).toEqual(own);
  expect(await ignored([...named(), ...named('-o', '--exclude-standard')])).toEqual([]);
  return own;
}

it('takes what a deeper file brings back as git does, with all that is below', async () => {
  rmSync(dir, { recursive: true, force: true });
  put('.gitignore', 'out/\n*.log\n/a/gen/*\n');
  put('a/.gitignore', '!out/\n!gen/keep\n');
  put('a/out/b/.gitignore', 'never\n');
  const brought = ['a/out/1', 'a/out/b/2', 'a/out/b/c/out/4', 'a/gen/keep/5'];
  const ignored = ['a/gen/6', 'a/out/3.log', 'a/out/b/never', 'out/1'];
  for (const name of [...brought, ...ignored]) put(name);
  execFileSync('git', ['init', '-q'], { cwd: dir });
  expect([...(await compareWithGit())].sort()).toEqual(ignored);
});

describe('a repository inside the base', () => {
  beforeAll(() => {
    rmSync(dir, { recursive: true, force: true });
    put('.gitignore', '*.log\nvendor/\nnode_modules/\nbuild/\n');
    const git = (at: string, ...words: string[]): void => {
      const user = ['-c', 'user.name=P', '-c', 'user.email=p@example.org', '-c', 'advice.addEmbeddedRepo=false'];
      execFileSync('git', [...user, ...words], { cwd: path.join(dir, at), stdio: 'pipe' });
    };
    git('', 'init', '-q');
    for (const own of ['nested', 'vendor/module', 'node_modules/clone']) {
      put(`${own}/.gitignore`, '*.tmp\n');
      git(own, 'init', '-q');
      put(`${own}/.git/info/exclude`, 'private\n');
      const names = ['tracked.log', 'tracked.tmp', 'build/a'];
      for (const name of [...names, 'x.tmp', 'private', 'other.log']) put(`${own}/${name}`);
      git(own, 'add', '-f', '.gitignore', ...names);
      git(own, 'commit', '-qm', 'one');
    }
    put('.gitmodules', '[submodule "module"]\n\tpath = vendor/module\n\turl = ./module\n');
    git('', 'add', '-f', '.gitignore', '.gitmodules', 'vendor/module');
    git('', 'commit', '-qm', 'one');
    // As the copy has it: git's own files of the submodule are among those of the project.
    git('', 'submodule', '--quiet', 'absorbgitdirs', 'vendor/module');
  });

  it('has rules and its own index', async () => {
    expect(lstatSync(path.join(dir, 'vendor/module/.git')).isFile()).toBe(true);
    await compareWithGit();
    for (const own of ['nested', 'vendor/module'])
      expect(await compareWithGit(own)).toEqual([`${own}/private`, `${own}/x.tmp`]);
  });

  it('counts as ignored output where the project ignores it, unless it is a submodule', async () => {
    const rules = baseIgnoreRules(reader);
    expect(await rules.top('node_modules/clone/tracked.log', false)).toBe('node_modules');
    expect(await rules.whole('node_modules/clone')).toBe(true);
    expect(await rules.whole('vendor/module')).toBe(false);
    expect(await rules.top('vendor/other/x', false)).toBe('vendor');
    expect(await rules.top('nested/.git/x.log', false)).toBeUndefined();
  });

  it('is not one where its file .git names a directory outside the base, or git would not take it', async () => {
    put('elsewhere/.git', `gitdir: ${path.join(dir, 'nested/.git')}\n`);
    put('above/.git', 'gitdir: ../../.git\n');
    put('empty/.git/HEAD');
    const rules = baseIgnoreRules(reader);
    for (const own of ['elsewhere', 'above', 'empty'])
      expect(await rules.top(`${own}/x.log`, false)).toBe(`${own}/x.log`);
  });
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

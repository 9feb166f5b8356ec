import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type SelectionRules, selectPaths } from '../../../../src/core/text/selection.ts';
import type { BaseOptions } from '../../../../src/workspace/base/base-options.ts';
import { withoutIgnored } from '../../../../src/workspace/scan/project-ignores.ts';
import { skipUnless } from '../../../support/requirement.ts';
import { refresh } from '../../../support/workspace/refresh-scene.ts';

// The copy of a repository that lacks some of its tracked files, and what git makes of that in the copy.

let dir: string;
let project: string;

const git = (where: string, ...words: string[]): string =>
  execFileSync('git', ['-c', 'safe.directory=*', '-c', 'protocol.file.allow=always', ...words], {
    cwd: where,
    encoding: 'utf8',
    env: { ...process.env, GIT_CONFIG_GLOBAL: path.join(dir, 'gitconfig'), GIT_CONFIG_NOSYSTEM: '1' },
  });
const put = (name: string, text: string): void => {
  mkdirSync(path.dirname(path.join(project, name)), { recursive: true });
  writeFileSync(path.join(project, name), text);
};
const copy = async (
  id: string,
  rules: Partial<SelectionRules> = {},
  more: Partial<BaseOptions> = {},
): Promise<string> => {
  const selection = selectPaths({ exclude: [], include: [], mask: [], ...rules });
  return path.join((await refresh(dir, id, { selection, ...more })).dir, 'tree');
};
/** What `git add -A; git commit` makes in a copy of the copy, which stays as it is. */
const committed = (tree: string, below = ''): string => {
  const own = path.join(dir, 'own');
  rmSync(own, { recursive: true, force: true });
  execFileSync('cp', ['-a', tree, own]);
  const at = path.join(own, below);
  git(at, 'add', '-A');
  git(at, 'commit', '-q', '--allow-empty', '-m', 'inside');
  return git(at, 'diff', '--name-status', 'HEAD~', 'HEAD');
};

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-lacking-'));
  project = path.join(dir, 'project');
  writeFileSync(path.join(dir, 'gitconfig'), '[user]\n\tname = P\n\temail = p@example.org\n');
  for (const name of ['.env', 'a.txt', 'private/key.pem', 'src/b.txt']) put(name, `${name}\n`);
  git(dir, 'init', '-q', '-b', 'main', 'project');
  git(project, 'add', '-A');
  git(project, 'commit', '-q', '-m', 'first');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

it('commits nothing of what is excluded or masked, and what was edited', async () => {
  put('a.txt', 'edited\n');
  const tree = await copy('one', { exclude: ['private/'], mask: ['.env'] });
  expect(existsSync(path.join(tree, 'private'))).toBe(false);
  expect(readFileSync(path.join(tree, '.env'), 'utf8')).toBe('');
  expect(git(tree, 'status', '--porcelain')).toBe(' M a.txt\n');
  expect(committed(tree)).toBe('M\ta.txt\n');
});

it('marks anew when the rules change and the index does not, in its own generation and in the same one', async () => {
  expect(git(await copy('one', { exclude: ['private/'] }), 'ls-files', '-t')).toMatch(/^H \.env\n(.*\n)*S private/m);
  const both = await copy('two', { exclude: ['private/'], mask: ['.env'] });
  expect(git(both, 'ls-files', '-t')).toMatch(/^S \.env\n(.*\n)*S private/m);
  expect(committed(await copy('three', { mask: ['.env'] }))).toBe('');
  // As it is on the host.
  const whole = await copy('four');
  expect(readFileSync(path.join(whole, '.git/index'))).toEqual(readFileSync(path.join(project, '.git/index')));
});

it('marks in a generation that is stacked on another one, and finds nothing to do where nothing changed', async () => {
  const stack = { stack: process.getuid?.() === 0 };
  await copy('one', {}, stack);
  const first = await copy('two', { exclude: ['private/'] }, stack);
  const index = statSync(path.join(first, '.git/index')).ino;
  expect(await copy('three', { exclude: ['private/'] }, stack)).toBe(first);
  expect(statSync(path.join(first, '.git/index')).ino).toBe(index);
});

it('keeps a marked copy when it is compared with the project', async () => {
  const rules = { exclude: ['private/'], mask: ['.env'] };
  const told: string[] = [];
  const tell: BaseOptions['tell'] = (event) => void (event.kind === 'message' && told.push(event.text));
  await copy('one', rules, { tell });
  await copy('two', rules, { tell, verify: true });
  expect(told.join('\n')).not.toContain('damaged');
});

it('marks in repositories inside the project, in submodules and in linked work trees', async () => {
  const other = path.join(dir, 'other');
  mkdirSync(other);
  git(other, 'init', '-q');
  for (const name of ['key.pem', 'code.c']) writeFileSync(path.join(other, name), name);
  git(other, 'add', '-A');
  git(other, 'commit', '-qm', 'lib');
  git(project, 'submodule', '--quiet', 'add', other, 'lib');
  git(project, 'commit', '-qm', 'with a submodule');
  git(project, 'worktree', 'add', '-q', '-b', 'side', 'trees/side');
  git(project, 'clone', '-q', other, 'nested');
  const tree = await copy('one', { exclude: ['*.pem'] });
  for (const below of ['lib', 'nested']) expect([below, committed(tree, below)]).toEqual([below, '']);
  // git in a copied work tree that leads to the user's paths would read the user's repository: the index is read instead.
  const listed = execFileSync('git', ['ls-files', '-t'], {
    cwd: project,
    encoding: 'utf8',
    env: { ...process.env, GIT_INDEX_FILE: path.join(tree, '.git/worktrees/side/index') },
  });
  expect(listed).toContain('S private/key.pem\n');
  expect(listed).toContain('H a.txt\n');
});

it('marks a submodule that is excluded as a whole, and what an index of another hash tracks', async () => {
  rmSync(project, { recursive: true });
  mkdirSync(project);
  git(project, 'init', '-q', '--object-format=sha256');
  put('private/key.pem', 'key\n');
  git(project, 'add', '-A');
  git(project, 'commit', '-qm', 'first');
  expect(committed(await copy('one', { exclude: ['private/'] }))).toBe('');
  const head = git(project, 'rev-parse', 'HEAD').trim();
  git(project, 'update-index', '--add', '--cacheinfo', `160000,${head},lib`);
  git(project, 'commit', '-qm', 'link');
  mkdirSync(path.join(project, 'lib'));
  expect(committed(await copy('two', { exclude: ['lib'] }))).toBe('');
});

it('leaves ignored files out without a mark: none is tracked', async () => {
  put('.gitignore', '*.log\nprivate/\n');
  put('kept.log', 'tracked\n');
  put('other.log', 'ignored\n');
  git(project, 'add', '-f', '.gitignore', 'kept.log');
  git(project, 'commit', '-qm', 'more');
  const nothing = selectPaths({ exclude: [], include: [], mask: [] });
  const tree = await copy('one', {}, { selection: withoutIgnored(nothing, project, []) });
  expect(existsSync(path.join(tree, 'other.log'))).toBe(false);
  expect(git(tree, 'ls-files', '-t')).not.toMatch(/^S/m);
  expect(committed(tree)).toBe('');
});

it('marks what cannot be copied: a special file in place of a tracked one', async () => {
  rmSync(path.join(project, 'src/b.txt'));
  execFileSync('mkfifo', [path.join(project, 'src/b.txt')]);
  expect(committed(await copy('one'))).toBe('');
});

it('marks what cannot be read, and takes the mark away once it can', async (context) => {
  skipUnless(process.getuid?.() !== 0, 'needs a user who is not root, for whom a file can be unreadable', context);
  chmodSync(path.join(project, 'src/b.txt'), 0);
  chmodSync(path.join(project, 'private'), 0);
  const listed = git(await copy('one'), 'ls-files', '-t');
  for (const name of ['src/b.txt', 'private/key.pem']) chmodSync(path.join(project, path.dirname(name)), 0o755);
  expect(listed).toBe('H .env\nH a.txt\nS private/key.pem\nS src/b.txt\n');
  chmodSync(path.join(project, 'src/b.txt'), 0o644);
  expect(git(await copy('two'), 'ls-files', '-t')).not.toMatch(/^S/m);
});

it('says when an index cannot be marked, and copies it as it is', async () => {
  git(project, 'update-index', '--split-index');
  const selection = selectPaths({ exclude: ['private/'], include: [], mask: [] });
  const base = await refresh(dir, 'one', { selection });
  expect(base.dropped).toEqual(['.git/index: marks of files that the copy lacks (a split or damaged index)']);
  expect(git(path.join(base.dir, 'tree'), 'status', '--porcelain')).toBe(' D private/key.pem\n');
});

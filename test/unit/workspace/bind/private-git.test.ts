import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { probeProject } from '../../../../src/core/host/facts.ts';
import type { Plan } from '../../../../src/core/types/plan.ts';
import { type MadeGit, makePrivateGit } from '../../../../src/workspace/bind/private-git.ts';

let dir: string;

/** As on a machine without any git configuration. */
const git = (where: string, ...words: string[]): string =>
  execFileSync('git', ['-c', 'protocol.file.allow=always', '-c', 'safe.directory=*', ...words], {
    cwd: path.join(dir, where),
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: dir, GIT_CONFIG_NOSYSTEM: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
const commit = (where: string, name: string): void => {
  mkdirSync(path.dirname(path.join(dir, where, name)), { recursive: true });
  writeFileSync(path.join(dir, where, name), name);
  git(where, 'add', '-A');
  git(where, '-c', 'user.name=P', '-c', 'user.email=p@example.org', 'commit', '-q', '-m', name);
};

beforeEach(() => {
  dir = realpathSync(mkdtempSync(path.join(tmpdir(), 'run-claude-private-')));
  mkdirSync(path.join(dir, 'main'));
  git('main', 'init', '-q', '-b', 'main');
  for (const name of ['a/one', 'b/two']) commit('main', name);
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** The session's repository of a project, with the user's objects where its alternates name them. */
function make(project: string): MadeGit {
  const root = path.join(dir, project);
  const plan = { project: probeProject(root, { repo: false }), user: '1000:1000' } as Plan;
  const objects = path.join(dir, 'objects');
  const made = makePrivateGit(plan, path.join(root, '.git'), path.join(dir, 'session'), objects);
  mkdirSync(objects);
  for (const [at, source] of made.bound.objects.entries()) symlinkSync(source, path.join(objects, String(at)));
  return made;
}

/** git with the session's repository, where the container's has the project. */
const inside = (project: string, ...words: string[]): string =>
  git(project, `--git-dir=${dir}/session`, `--work-tree=${path.join(dir, project)}`, ...words);
const names = (): string[] => readdirSync(path.join(dir, 'session'));

it('of a linked work tree has its own configuration and sparse checkout, and no state of the main one', () => {
  git('main', 'worktree', 'add', '-q', '-b', 'side', '../tree');
  git('tree', 'sparse-checkout', 'set', 'a');
  git('main', 'sparse-checkout', 'set', 'b');
  git('main', 'config', '--worktree', 'core.bare', 'true');
  git('main', 'config', '--worktree', 'color.ui', 'always');
  git('tree', 'config', '--worktree', 'color.ui', 'never');
  git('tree', 'bisect', 'start', 'HEAD', 'HEAD~1');
  git('tree', 'bisect', 'reset');
  git('main', 'update-ref', 'refs/worktree/mine', 'HEAD');
  mkdirSync(path.join(dir, 'main/.git/refs/bisect'));
  writeFileSync(path.join(dir, 'main/.git/refs/bisect/bad'), `${git('tree', 'rev-parse', 'HEAD')}`);
  writeFileSync(path.join(dir, 'main/.git/MERGE_RR'), '');
  make('tree');
  expect(inside('tree', 'status', '--porcelain')).toBe('');
  expect(inside('tree', 'sparse-checkout', 'list')).toBe('a\n');
  expect(inside('tree', 'config', 'color.ui')).toBe('never\n');
  expect(inside('tree', 'config', '--bool', 'core.bare')).toBe('false\n');
  expect(inside('tree', 'config', 'core.worktree')).toBe('/workspace\n');
  expect(inside('tree', 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/main\nrefs/heads/side\n');
  expect(inside('tree', 'reflog', '--format=%gs')).toBe(git('tree', 'reflog', '--format=%gs'));
  expect(names()).not.toContain('MERGE_RR');
});

it('of a bare repository’s work tree is not bare; of a bare repository it is', () => {
  git('.', 'clone', '-q', '--bare', 'main', 'bare');
  git('bare', 'worktree', 'add', '-q', '../tree');
  make('tree');
  expect(inside('tree', 'rev-parse', '--is-bare-repository')).toBe('false\n');
  expect(inside('tree', 'status', '--porcelain')).toBe('');
  for (const name of ['session', 'objects']) rmSync(path.join(dir, name), { recursive: true });
  mkdirSync(path.join(dir, 'project'));
  renameSync(path.join(dir, 'bare'), path.join(dir, 'project/.bare'));
  writeFileSync(path.join(dir, 'project/.git'), 'gitdir: ./.bare\n');
  make('project');
  expect(git('session', 'rev-parse', '--is-bare-repository')).toBe('true\n');
});

it('of a linked work tree takes the work tree of the main one for no work tree of its own', () => {
  git('main', 'worktree', 'add', '-q', '../tree');
  git('main', 'config', 'core.worktree', path.join(dir, 'tree/a'));
  expect(git('tree', 'rev-parse', '--show-toplevel')).toBe(`${dir}/tree\n`);
  make('tree');
  expect(inside('tree', 'config', '--get-all', 'core.worktree')).toBe('/workspace\n');
});

it('leaves out keys, logins and stashes', () => {
  const at = (name: string): string => path.join(dir, 'main/.git', name);
  mkdirSync(at('git-crypt/keys'), { recursive: true });
  for (const name of ['git-crypt/keys/default', 'credentials']) writeFileSync(at(name), 'https://me:secret@host\n');
  const head = git('main', 'rev-parse', 'HEAD').trim();
  git('main', 'update-ref', 'refs/stash', head);
  git('main', 'pack-refs', '--all');
  git('main', 'update-ref', 'refs/stash', 'HEAD~1');
  make('main');
  expect(inside('main', 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/main\n');
  for (const name of ['git-crypt', 'credentials']) expect(existsSync(path.join(dir, 'session', name))).toBe(false);
});

it('leaves out what a git that runs has there', () => {
  const state = ['index.lock', 'HEAD.lock', 'config.lock', 'packed-refs.new', 'gc.pid', 'refs/heads/main.lock'];
  for (const name of state) writeFileSync(path.join(dir, 'main/.git', name), '4711 host');
  make('main');
  for (const name of state) expect(existsSync(path.join(dir, 'session', name)), name).toBe(false);
  rmSync(path.join(dir, 'main/.git/index.lock'));
  writeFileSync(path.join(dir, 'main/a/one'), 'edited');
  inside('main', 'add', '-A');
  expect(inside('main', 'status', '--porcelain')).toBe('M  a/one\n');
});

it('names where the work tree is inside, and each submodule whose repository was copied', () => {
  git('.', 'clone', '-q', 'main', 'library');
  git('library', 'submodule', 'add', '-q', '../main', 'deep');
  git('library', '-c', 'user.name=P', '-c', 'user.email=p@example.org', 'commit', '-q', '-m', 'deep');
  git('main', 'submodule', 'add', '-q', '../library', 'third/lib');
  git('main', '-c', 'user.name=P', '-c', 'user.email=p@example.org', 'commit', '-q', '-m', 'lib');
  git('main', 'worktree', 'add', '-q', '../tree');
  git('tree', 'submodule', 'update', '-q', '--init', '--recursive');
  // One that the user took away.
  rmSync(path.join(dir, 'tree/third/lib/deep/.git'));
  expect(make('tree').submodules).toEqual([{ at: 'third/lib', repository: 'modules/third/lib' }]);
  const config = readFileSync(path.join(dir, 'session/modules/third/lib/config'), 'utf8');
  expect(config).toContain('worktree = /workspace/third/lib\n');
});

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { RelPath } from '../../../../src/core/text/path.ts';
import { judgeGitlinks } from '../../../../src/review/commits/gitlinks.ts';
import { findRepositories, withKnownCommits } from '../../../../src/review/commits/repositories.ts';

const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'run-claude-repositories-')));
const env = { PATH: process.env['PATH'] ?? '', HOME: root, GIT_CONFIG_NOSYSTEM: '1' };
const settings = ['-c', 'user.name=A', '-c', 'user.email=a@example.org', '-c', 'protocol.file.allow=always'];
const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', [...settings, ...args], { cwd, env, encoding: 'utf8' }).trim();
afterAll(() => rmSync(root, { recursive: true, force: true }));

function makeRepository(at: string): string {
  const dir = path.join(root, at);
  mkdirSync(dir, { recursive: true });
  git(dir, 'init', '-q', '-b', 'main');
  git(dir, 'commit', '-q', '--allow-empty', '-m', at);
  return dir;
}

const deep = makeRepository('origin/deep');
const lib = makeRepository('origin/lib');
git(lib, 'submodule', '--quiet', 'add', deep, 'inner/deep');
git(lib, 'commit', '-qm', 'with deep');
const project = makeRepository('project');
git(project, 'submodule', '--quiet', 'add', '--name', 'a/name', lib, 'vendor/lib');
git(project, 'submodule', '--quiet', 'update', '--init', '--recursive');
git(project, 'commit', '-qm', 'with lib');
makeRepository('project/tools/nested');
// What looks like a repository and is none: git would find the project's from there.
mkdirSync(path.join(project, 'empty/.git'), { recursive: true });
for (const name of ['objects', 'refs']) mkdirSync(path.join(project, 'half/.git', name), { recursive: true });
symlinkSync(path.join(root, 'origin/deep'), path.join(project, 'linked'));
git(project, 'worktree', 'add', '-q', path.join(project, 'trees/side'));

const listed = (at: string, kind: 'directory' | 'file' | 'none', mode: 'copy' | 'bind'): string[][] =>
  findRepositories({ root: at, git: kind }, mode).map(({ path: where, inside, place }) => [
    where,
    inside,
    path.relative(root, place),
  ]);

const SUBMODULES = [
  ['vendor/lib/inner/deep', '.git/modules/a/name/modules/inner/deep', 'project/.git/modules/a/name/modules/inner/deep'],
  ['vendor/lib', '.git/modules/a/name', 'project/.git/modules/a/name'],
];

it('finds submodules and nested repositories, those inside others first', () => {
  expect(listed(project, 'directory', 'copy')).toEqual([
    SUBMODULES[0],
    ['tools/nested', 'tools/nested/.git', 'project/tools/nested'],
    SUBMODULES[1],
    ['', '.git', 'project'],
  ]);
});

it('takes those of the named folders that are repositories, and follows no link to one', () => {
  const named = ['tools/nested', 'empty', 'half', 'linked', 'missing', 'tools'];
  const found = findRepositories({ root: project, git: 'directory' }, 'copy', named);
  expect(found.map(({ path: at }) => at)).toEqual(['vendor/lib/inner/deep', 'tools/nested', 'vendor/lib', '']);
});

it('takes no git directory of which an agent in bind mode could have written the configuration', () => {
  expect(listed(project, 'directory', 'bind')).toEqual([...SUBMODULES, ['', '.git', 'project']]);
});

it('finds the repositories of a folder that is none itself, and of a work tree', () => {
  expect(listed(path.join(project, 'tools'), 'none', 'copy')).toEqual([
    ['nested', 'nested/.git', 'project/tools/nested'],
  ]);
  // Its submodules are not checked out in the linked work tree.
  expect(listed(path.join(project, 'trees/side'), 'file', 'copy')).toEqual([['', '.git', 'project/trees/side']]);
});

it('knows the commits of each repository', () => {
  const known = withKnownCommits(findRepositories({ root: project, git: 'directory' }, 'copy'));
  for (const one of known) expect(one.known, one.path).toContain(git(one.place, 'rev-parse', 'HEAD'));
});

it('judges a commit of a submodule by the repository at its path', () => {
  const repositories = findRepositories({ root: project, git: 'directory' }, 'copy');
  const ofLib = git(lib, 'rev-parse', 'HEAD');
  const ofDeep = git(deep, 'rev-parse', 'HEAD');
  const judge = (at: string, commit: string, within = ''): string[] =>
    judgeGitlinks([{ path: at as RelPath, commit }], { made: [], repositories, within, sessionId: 'id' }).map(
      ({ severity, title, path: where }) => `${severity} ${title}: ${where}`,
    );
  const here = 'suspect Commit of another repository';
  const nowhere = 'blocked Commit that no repository here has';
  expect(judge('vendor/lib', ofLib)).toEqual([`${here}: vendor/lib`]);
  expect(judge('inner/deep', ofDeep, 'vendor/lib')).toEqual([`${here}: inner/deep`]);
  // What was imported of this session was audited then.
  git(path.join(project, 'vendor/lib'), 'update-ref', 'refs/run-claude/id/main', ofLib);
  expect(judge('vendor/lib', ofLib)).toEqual([]);
  git(path.join(project, 'vendor/lib'), 'update-ref', '-d', 'refs/run-claude/id/main');
  // A moved submodule has no repository at its new path.
  expect(judge('moved', ofLib)).toEqual([`${here}: moved`]);
  expect(judge('vendor/lib', ofDeep)).toEqual([`${nowhere}: vendor/lib`]);
  expect(judge('vendor/lib', 'a'.repeat(40))).toEqual([`${nowhere}: vendor/lib`]);
  expect(judge('moved', 'a'.repeat(40))).toEqual([`${nowhere}: moved`]);
  // A tree or blob of that id is not a commit.
  expect(judge('vendor/lib', git(lib, 'rev-parse', 'HEAD^{tree}'))).toEqual([`${nowhere}: vendor/lib`]);
});

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { distrust } from '../../../../src/core/host/programs/start-program.ts';
import { runUserGit } from '../../../../src/core/host/user-git.ts';

const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'run-claude-user-git-')));
afterAll(() => rmSync(root, { recursive: true }));
const project = path.join(root, 'project');
const env = { PATH: process.env['PATH'], HOME: path.join(root, 'home'), GIT_CONFIG_NOSYSTEM: '1' };
const git = (...args: readonly string[]): string =>
  execFileSync('git', ['-C', project, ...args], { env, encoding: 'utf8' });
const commitTree = (): Promise<string> => {
  const tree = execFileSync('git', ['-C', project, 'mktree'], { env, encoding: 'utf8', input: '' }).trim();
  return runUserGit(['commit-tree', tree, '-m', 'x'], { cwd: project, env });
};

beforeEach(() => {
  rmSync(project, { recursive: true, force: true });
  mkdirSync(path.join(root, 'home'), { recursive: true });
  mkdirSync(project);
  writeFileSync(path.join(root, 'home/.gitconfig'), '[user]\n\tname = You\n\temail = you@example.org\n');
  git('init', '-q');
  distrust([project]);
});

it('uses the configuration of the user and of the repository', async () => {
  git('config', 'user.name', 'Other');
  expect(git('log', '-1', '--format=%an', (await commitTree()).trim())).toBe('Other\n');
});

it.each([
  ['the repository', () => git('config', 'include.path', '../.gitconfig')],
  ['the user', () => writeFileSync(path.join(root, 'home/.gitconfig'), `[include]\n\tpath = ${project}/.gitconfig\n`)],
])('runs nothing where the configuration of %s includes a file that an agent can write', async (_, include) => {
  writeFileSync(path.join(project, '.gitconfig'), '[core]\n\tsshCommand = ./planted\n');
  include();
  await expect(commitTree()).rejects.toThrow(
    expect.objectContaining({
      code: 'GIT_CONFIG_IN_PROJECT',
      message: expect.stringContaining(`${project}/.gitconfig`),
    }),
  );
});

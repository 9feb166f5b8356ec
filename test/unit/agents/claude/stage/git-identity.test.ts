import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { gitIdentity } from '../../../../../src/agents/claude/stage/git-identity.ts';
import { runProgram } from '../../../../../src/core/host/processes/run-program.ts';

let dir: string;
let project: string;
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-identity-'));
  project = path.join(dir, 'project');
  for (const one of ['home', 'inside']) mkdirSync(path.join(dir, one));
  execFileSync('git', ['init', '-q', project]);
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Author and committer of a commit that is made with the staged configuration alone. */
async function commitAs(env: NodeJS.ProcessEnv): Promise<string> {
  const host = { PATH: process.env['PATH'], HOME: path.join(dir, 'home'), ...env };
  const inside = path.join(dir, 'inside');
  writeFileSync(path.join(inside, '.gitconfig'), await gitIdentity(runProgram, host, project));
  const git = (...words: string[]): string =>
    execFileSync('git', ['-c', 'user.useConfigOnly=true', ...words], {
      cwd: project,
      env: { PATH: process.env['PATH'], HOME: inside, GIT_CONFIG_NOSYSTEM: '1' },
      encoding: 'utf8',
      stdio: 'pipe',
    });
  git('commit', '-q', '--allow-empty', '-m', 'inside');
  return git('log', '-1', '--format=%an <%ae> %cn <%ce>').trim();
}

const AUTHOR = { GIT_AUTHOR_NAME: 'A "x" B', GIT_AUTHOR_EMAIL: 'a@ci' };
const COMMITTER = { GIT_COMMITTER_NAME: 'C', GIT_COMMITTER_EMAIL: 'c@ci' };

it('is that of the environment, as in CI', async () => {
  expect(await commitAs({ ...AUTHOR, ...COMMITTER })).toBe('A "x" B <a@ci> C <c@ci>');
});

it('is above the configuration, part by part', async () => {
  writeFileSync(path.join(dir, 'home/.gitconfig'), '[user]\n\tname = P\n\temail = p@host\n');
  expect(await commitAs({})).toBe('P <p@host> P <p@host>');
  expect(await commitAs({ GIT_AUTHOR_NAME: 'A' })).toBe('A <p@host> P <p@host>');
  expect(await commitAs(COMMITTER)).toBe('P <p@host> C <c@ci>');
  expect(await commitAs({ GIT_AUTHOR_NAME: '', EMAIL: 'e@host' })).toBe('P <p@host> P <p@host>');
});

it('is that of a global configuration elsewhere, with the address of EMAIL', async () => {
  const file = path.join(dir, 'elsewhere');
  writeFileSync(file, '[user]\n\tname = P\n');
  expect(await commitAs({ GIT_CONFIG_GLOBAL: file, EMAIL: 'e@host' })).toBe('P <e@host> P <e@host>');
});

it('is nobody where the host names nobody', async () => {
  await expect(commitAs({})).rejects.toThrow(/tell me who you are/);
});

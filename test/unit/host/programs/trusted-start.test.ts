import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { agentFolders } from '../../../../src/host/programs/start-program.ts';
import {
  distrustBefore,
  recordAgentFolders,
  requireOutsidePackage,
} from '../../../../src/host/programs/trusted-start.ts';

const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'run-claude-trusted-')));
afterAll(() => rmSync(root, { recursive: true }));
const at = (...parts: readonly string[]): string => path.join(root, ...parts);
for (const dir of ['home', 'repo/.git', 'repo/inner', 'named', 'also', 'also-2', 'bound', 'free'])
  mkdirSync(at(dir), { recursive: true });

it('records each folder of a bind session once, for this user alone', () => {
  recordAgentFolders(at('state'), [at('bound')]);
  recordAgentFolders(at('state'), [at('bound'), at('gone')]);
  expect(readFileSync(at('state/agent-folders'), 'utf8')).toBe(`${at('bound')}\n${at('gone')}\n`);
  expect(statSync(at('state/agent-folders')).mode & 0o777).toBe(0o600);
});

it('distrusts the repository around, folders of the command line, and those of earlier bind sessions', () => {
  distrustBefore([at('named'), '--also', `${at('also')}:ro`, `--also=${at('also-2')}`, '--', 'free'], {
    cwd: at('repo/inner'),
    home: at('home'),
    stateDir: at('state'),
  });
  for (const inside of ['repo', 'named', 'also', 'also-2', 'bound'])
    expect(agentFolders.resolve(at(inside))).toBe('inside');
  expect(agentFolders.resolve(at('home'))).toBe(at('home'));
  expect(agentFolders.resolve(at('free'))).toBe(at('free'));
});

describe('a run-claude that the agent can write', () => {
  const parts = { 'run-claude': at('named'), 'Node.js': process.execPath };
  const refusal = { code: 'PACKAGE_IN_PROJECT', status: 2 };

  it('starts no agent in the project that has it, and none at all after a bind session there', () => {
    expect(() => requireOutsidePackage([root], at('none'), parts)).toThrow(expect.objectContaining(refusal));
    recordAgentFolders(at('later'), [at('named')]);
    expect(() => requireOutsidePackage([], at('later'), parts)).toThrow(expect.objectContaining(refusal));
  });

  it('starts one in any other project', () => {
    expect(() => requireOutsidePackage([at('free')], at('none'), parts)).not.toThrow();
  });
});

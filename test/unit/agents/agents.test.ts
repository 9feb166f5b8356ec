import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  agentOf,
  agentProgram,
  DEFAULT_AGENT,
  homeAgent,
  isPrintOnly,
  programArgv,
  promptOf,
  resumedProgram,
  withPermissionMode,
} from '../../../src/agents/agents.ts';
import { stagedNames } from '../../../src/agents/claude/formats/entries.ts';
import type { Program } from '../../../src/core/types/plan.ts';

const CLAUDE: Program = { kind: 'claude', args: ['-p', 'go'], print: true };
const SHELL: Program = { kind: 'shell', args: ['-c', 'claude -p go'] };
const EXEC: Program = { kind: 'exec', argv: ['claude', '-p', 'go'] };

describe('the agent of a program', () => {
  it('is undefined for a shell and for another command, whatever their arguments', () => {
    expect([CLAUDE, SHELL, EXEC].map((program) => agentOf(program)?.name)).toEqual(['claude', undefined, undefined]);
    expect([CLAUDE, SHELL, EXEC].map(isPrintOnly)).toEqual([true, false, false]);
    expect([CLAUDE, SHELL, EXEC].map(promptOf)).toEqual(['go', undefined, undefined]);
  });

  it('gives a shell and another command the home of the default agent', () => {
    expect([CLAUDE, SHELL, EXEC].map(homeAgent)).toEqual([DEFAULT_AGENT, DEFAULT_AGENT, DEFAULT_AGENT]);
  });

  it('gives them the home of the agent that their command line names, and keeps it when they run again', () => {
    const shell = { ...SHELL, agent: 'codex' as const };
    expect(homeAgent(shell).name).toBe('codex');
    expect(agentOf(shell)).toBeUndefined();
    expect(resumedProgram({ ...EXEC, agent: 'gemini' }, ['ls'], undefined, { permissions: 'skip' })).toEqual({
      kind: 'exec',
      argv: ['ls'],
      agent: 'gemini',
    });
  });

  it('names the words that start it', () => {
    expect([CLAUDE, SHELL, EXEC].map(programArgv)).toEqual([
      ['claude', '-p', 'go'],
      ['/bin/bash', '-c', 'claude -p go'],
      ['claude', '-p', 'go'],
    ]);
  });

  it('gets the permission mode of the policy, and no other program does', () => {
    const skip = { permissions: 'skip' } as const;
    expect([CLAUDE, SHELL, EXEC].map((program) => programArgv(withPermissionMode(program, skip)))).toEqual([
      ['claude', '--dangerously-skip-permissions', '-p', 'go'],
      programArgv(SHELL),
      programArgv(EXEC),
    ]);
  });

  it('reads -p before and after --, and not as the value of another option', () => {
    expect(agentProgram(DEFAULT_AGENT, ['-p'], ['go'])).toEqual(CLAUDE);
    expect(agentProgram(DEFAULT_AGENT, [], ['-p', 'go'])).toEqual(CLAUDE);
    expect(agentProgram(DEFAULT_AGENT, ['--model', '-p'], []).print).toBe(false);
  });
});

it('names an instructions file that is staged in the home', () => {
  expect(stagedNames('file')).toContain(DEFAULT_AGENT.instructionsFile);
});

describe('the sources', () => {
  const src = path.resolve(import.meta.dirname, '../../../src');
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));

  /** Files whose code names an agent as a value, quoted. */
  function filesNaming(agent: string): string[] {
    // `Review['claude']` is a property; an API has a kind of the same name.
    const quoted = new RegExp(`(?<!\\w\\[|kind: |kind === )'${agent}'`);
    return files.filter((file) => readFileSync(path.join(src, file), 'utf8').match(quoted) !== null).sort();
  }

  it('name an agent only in its own file and in the type', () => {
    expect(files.length).toBeGreaterThan(300);
    // The image has a part of that name.
    const named = ['agents/claude.ts', 'core/types/agent/agent-package.ts', 'environment/image/inputs.ts'];
    expect(filesNaming('claude')).toEqual(named);
    for (const agent of ['codex', 'copilot', 'gemini', 'opencode']) {
      // The API that an agent of the user's own can name.
      const others =
        agent === 'gemini'
          ? ['core/config/tables/agent.ts', 'core/types/agent/own-agent.ts', 'session/record/formats/policy-format.ts']
          : [];
      const own = [`agents/${agent}.ts`, 'core/types/agent/agent-package.ts'];
      expect(filesNaming(agent)).toEqual([...own, ...others].sort());
    }
  });

  it('use an agent’s home, data and credential only through its row', () => {
    const parts =
      /(?:from |import\()'[^']*\/(claude\/(stage\/stage|back\/\w+|credentials\/(credentials|credential-file)))\.ts'/g;
    const isOutside = (file: string): boolean => !file.startsWith('agents/');
    const direct = files.filter(isOutside).flatMap((file) => {
      const text = readFileSync(path.join(src, file), 'utf8').replaceAll(/^import type [^;]*;/gm, '');
      return [...text.matchAll(parts)].map(([, part]) => `${file}: ${part}`);
    });
    // `describeCredential` reads any agent's credential.
    expect(direct.sort()).toEqual([
      'cli/doctor/agent-checks.ts: claude/credentials/credentials',
      'session/start/find-login.ts: claude/credentials/credentials',
    ]);
  });
});

import { describe, expect, it } from 'vitest';
import { agentNamed, agentProgram, programArgv, promptOf, withPermissionMode } from '../../../../src/agents/agents.ts';
import { CODEX } from '../../../../src/agents/codex.ts';
import { GEMINI } from '../../../../src/agents/gemini.ts';
import { OPENCODE } from '../../../../src/agents/opencode.ts';
import { readerOf } from '../../../../src/agents/others/words.ts';
import { parseCommandLine, type RunLine } from '../../../../src/cli/grammar/parse-command-line.ts';

const skip = { permissions: 'skip' } as const;
const ask = { permissions: 'ask' } as const;
const run = (words: readonly string[], agent = 'codex'): RunLine =>
  parseCommandLine(words, (word) => word === 'project', { usual: agent }) as RunLine;

describe('the words of Codex', () => {
  it('print with a subcommand, and the prompt is the word after it', () => {
    const program = agentProgram(CODEX, [], ['exec', '-m', 'gpt-5', 'do it']);
    expect(program).toMatchObject({ kind: 'codex', print: true });
    expect(promptOf(program)).toBe('do it');
    expect(agentProgram(CODEX, [], ['do it']).print).toBe(false);
    expect(agentProgram(CODEX, [], ['-m', 'exec', 'do it']).print).toBe(false);
    expect(agentProgram(CODEX, [], ['--', 'exec']).print).toBe(true);
  });

  it('get the permission mode in front, unless they choose one', () => {
    const program = agentProgram(CODEX, [], ['exec', 'x']);
    expect(programArgv(withPermissionMode(program, skip))).toEqual([
      'codex',
      '--dangerously-bypass-approvals-and-sandbox',
      'exec',
      'x',
    ]);
    expect(programArgv(withPermissionMode(program, ask))).toContain('--ask-for-approval=on-request');
    for (const words of [['-a', 'never'], ['--sandbox=read-only'], ['--yolo']]) {
      const chosen = agentProgram(CODEX, [], words);
      expect(withPermissionMode(chosen, skip)).toEqual(chosen);
      expect(CODEX.commandLine.permissionWords([...words, 'x'])).toEqual(words);
    }
  });
});

describe('the words of Gemini CLI', () => {
  it('print with -p, whose value is the prompt', () => {
    const program = agentProgram(GEMINI, ['-p', 'do it'], []);
    expect(program.print).toBe(true);
    expect(promptOf(program)).toBe('do it');
    expect(agentProgram(GEMINI, ['-m', '-p'], []).print).toBe(false);
    expect(programArgv(withPermissionMode(program, ask))).toEqual(['gemini', '--approval-mode=default', '-p', 'do it']);
    expect(GEMINI.commandLine.choosesConversation(['--resume', 'latest'])).toBe(true);
  });
});

it('opencode prints with a subcommand, and its permission mode is in its settings', () => {
  const program = agentProgram(OPENCODE, [], ['run', 'do it']);
  expect(program.print).toBe(true);
  expect(promptOf(program)).toBe('do it');
  expect(withPermissionMode(program, skip)).toEqual(program);
});

describe('--agent', () => {
  it('chooses the agent, by whose options the other words are read', () => {
    expect(run(['--agent', 'codex', 'project', '--search', '--', 'exec', 'x']).program).toEqual({
      kind: 'codex',
      args: ['--search', 'exec', 'x'],
      print: true,
    });
    expect(run(['project', '--agent=gemini', '-p', 'x']).program.kind).toBe('gemini');
    expect(() => run(['project', '--agent=gemini', '--search'])).toThrow('unknown option --search');
  });

  it('overrides the agent of the configuration, and a print run works on a copy', () => {
    expect(run(['project']).program.kind).toBe('codex');
    const line = run(['--agent', 'claude', 'project', '-p', 'x']);
    expect(line.program.kind).toBe('claude');
    expect(line.flags).toContainEqual({ flag: '--print', setting: 'mode', value: 'copy' });
    expect(line.flags).toContainEqual({ flag: '--agent', setting: 'agent', value: 'claude' });
  });

  it('gives a shell and another command the home of that agent', () => {
    expect(run(['--agent', 'gemini', '--shell']).program).toEqual({ kind: 'shell', args: [], agent: 'gemini' });
    const line = parseCommandLine(['exec', '--agent', 'codex', '--', 'x'], () => false) as RunLine;
    expect(line.program).toEqual({ kind: 'exec', argv: ['x'], agent: 'codex' });
    expect((parseCommandLine(['--shell'], () => false) as RunLine).program).toEqual({ kind: 'shell', args: [] });
  });

  it('is left to Claude, which has an option of that name, where the word is near to no agent', () => {
    const line = parseCommandLine(['--agent', 'reviewer', '-p', 'x'], () => false) as RunLine;
    expect(line.program).toEqual({ kind: 'claude', args: ['--agent', 'reviewer', '-p', 'x'], print: true });
    expect(() => parseCommandLine(['--agent', 'codx'], () => false)).toThrow("there is no agent 'codx'");
  });

  it('names only agents that exist', () => {
    expect(agentNamed('codex')).toBe(CODEX);
    expect(agentNamed('constructor')).toBeUndefined();
  });
});

it('reads options by a table: joined values, unknown options, and what follows --', () => {
  const reader = readerOf({
    options: { none: '-n', one: '-o --one', many: '--many', optional: '--maybe' },
    printsWith: ['say'],
    conversations: ['again'],
    permissionOptions: ['-o'],
    permissions: { skip: [], ask: [] },
  });
  expect(reader.readOption('--one=x')).toEqual({ arity: 'one', joined: true });
  expect(reader.readOption('--other')).toBeUndefined();
  expect(reader.promptOf(['-o', 'a', '--one=b', '--maybe', 'say', 'c'])).toBe('c');
  expect(reader.promptOf(['-n', '--', '-n'])).toBe('-n');
  expect(reader.permissionWords(['-o', 'a', '-n'])).toEqual(['-o', 'a']);
  expect(reader.permissionWords(['-o=a', '-n', '-o=b'])).toEqual(['-o=a', '-o=b']);
  expect(reader.choosesConversation(['again'])).toBe(true);
});

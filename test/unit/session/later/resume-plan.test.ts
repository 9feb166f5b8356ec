import { describe, expect, it } from 'vitest';
import type { Plan, Program } from '../../../../src/core/types/plan.ts';
import { type ResumeInput, resumePlan } from '../../../../src/session/later/resume-plan.ts';

const SKIP = '--dangerously-skip-permissions';
const ASK = '--permission-mode=default';
const OWN = '11111111-2222-4333-8444-555555555555';

const planOf = (program: Program, permissions: 'skip' | 'ask' = 'skip'): Plan =>
  ({ program, policy: { permissions }, env: { TERM: 'old', A: 'b' }, tty: false }) as unknown as Plan;
const claude = (args: string[], print = false): Program => ({ kind: 'claude', args, print });
const input = (more: Partial<ResumeInput> = {}): ResumeInput => ({
  words: [],
  conversation: OWN,
  host: { stdinTty: true, stdoutTty: true },
  term: 'xterm',
  ...more,
});

describe('the program of a resumed session', () => {
  it.each<[string, Program, Partial<ResumeInput>, Program]>([
    ['continues without its prompt', claude([SKIP, '-p', 'do it'], true), {}, claude([SKIP, '--resume', OWN])],
    [
      'takes new words',
      claude([SKIP, 'do it']),
      { words: ['-p', 'more'] },
      claude([SKIP, '--resume', OWN, '-p', 'more'], true),
    ],
    ['takes another conversation', claude([SKIP]), { words: ['--resume', 'x'] }, claude([SKIP, '--resume', 'x'])],
    [
      'continues the conversation that it was started with, where it wrote none',
      claude([SKIP, '--resume', OWN]),
      { conversation: undefined },
      claude([SKIP, '--resume', OWN]),
    ],
    ['begins anew where there is none', claude([SKIP, '--continue']), { conversation: undefined }, claude([SKIP])],
    [
      'keeps the permission mode that the user chose',
      claude(['--permission-mode', 'plan', 'do it']),
      {},
      claude(['--permission-mode', 'plan', '--resume', OWN]),
    ],
    [
      'takes another permission mode',
      claude([SKIP]),
      { words: ['--permission-mode=plan'] },
      claude(['--resume', OWN, '--permission-mode=plan']),
    ],
    ['keeps a command', { kind: 'exec', argv: ['a'] }, {}, { kind: 'exec', argv: ['a'] }],
    ['takes another command', { kind: 'exec', argv: ['a'] }, { words: ['b', 'c'] }, { kind: 'exec', argv: ['b', 'c'] }],
    ['keeps a shell', { kind: 'shell', args: [] }, {}, { kind: 'shell', args: [] }],
  ])('%s', (_, program, more, expected) => {
    const plan = resumePlan(planOf(program), input(more));
    expect(plan.program).toEqual(expected);
    expect([plan.tty, plan.env]).toEqual([more.words?.includes('-p') !== true, { TERM: 'xterm', A: 'b' }]);
  });

  it('names a terminal that the image knows', () => {
    const term = (value: string): unknown => resumePlan(planOf(claude([])), input({ term: value })).env['TERM'];
    expect(['tmux-256color', 'xterm-ghostty', '\u001b[2J'].map(term)).toEqual([
      'tmux-256color',
      'xterm-256color',
      'xterm-256color',
    ]);
  });

  it('asks for permissions where the policy does', () => {
    expect(resumePlan(planOf(claude([ASK, 'do it']), 'ask'), input()).program).toEqual(claude([ASK, '--resume', OWN]));
  });

  it('has no terminal in print mode, and keeps TERM when the command has no terminal', () => {
    const plan = resumePlan(planOf(claude([SKIP])), input({ words: ['-p', 'x'], term: undefined }));
    expect([plan.tty, plan.env['TERM']]).toEqual([false, 'old']);
  });
});

it('refuses an option as the command of a session without an agent', () => {
  const exec: Program = { kind: 'exec', argv: ['make'] };
  expect(() => resumePlan(planOf(exec), input({ words: ['--version'] }))).toThrow(/'--version' is not a command/);
  expect(resumePlan(planOf(exec), input({ words: ['ls', '--all'] })).program).toMatchObject({ argv: ['ls', '--all'] });
  expect(resumePlan(planOf(claude([])), input({ words: ['--version'] })).program).toMatchObject({
    args: expect.arrayContaining(['--version']),
  });
});

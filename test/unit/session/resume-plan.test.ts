import { expect, it } from 'vitest';
import { resumePlan } from '../../../src/session/resume-plan.ts';
import type { Plan, Program } from '../../../src/types/plan.ts';

const SKIP = '--dangerously-skip-permissions';
const planOf = (program: Program, syncBack = true): Plan =>
  ({
    program,
    policy: { syncBack, isolateClaudeData: false },
    env: { TERM: 'old', A: 'b' },
    tty: false,
  }) as unknown as Plan;
const host = { stdinTty: true, stdoutTty: true };
const claude = (args: string[], print = false): Program => ({ kind: 'claude', args, print });

it.each<[string, Program, string[], boolean, Program]>([
  ['goes on without its prompt', claude([SKIP, '-p', 'do it'], true), [], false, claude([SKIP, '--continue'])],
  ['takes new words', claude([SKIP, 'do it']), ['-p', 'more'], true, claude([SKIP, '--continue', '-p', 'more'], true)],
  ['takes another conversation', claude([SKIP]), ['--resume', 'x'], false, claude([SKIP, '--resume', 'x'])],
  ['keeps a command', { kind: 'exec', argv: ['a'] }, [], false, { kind: 'exec', argv: ['a'] }],
  ['takes another command', { kind: 'exec', argv: ['a'] }, ['b', 'c'], false, { kind: 'exec', argv: ['b', 'c'] }],
  ['keeps a shell', { kind: 'shell', args: [] }, [], false, { kind: 'shell', args: [] }],
])('%s', (_, program, words, print, expected) => {
  const plan = resumePlan(planOf(program), { words, print, host, term: 'xterm' });
  expect(plan.program).toEqual(expected);
  expect([plan.tty, plan.env]).toEqual([!print, { TERM: 'xterm', A: 'b' }]);
});

it('asks for no conversation where none comes back', () => {
  const plan = resumePlan(planOf(claude([SKIP]), false), { words: [], print: false, host, term: undefined });
  expect(plan.program).toEqual(claude([SKIP]));
});

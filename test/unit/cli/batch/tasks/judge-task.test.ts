import { expect, it } from 'vitest';
import { judgeTask, statusOfTask } from '../../../../../src/cli/batch/tasks/judge-task.ts';
import { sharedStatus } from '../../../../../src/session/record/exit-status.ts';

const pending = { stage: 'pending', agentStatus: 0 } as const;

it.each([
  ['changes are pending', 120, pending, 'done'],
  ['something was held back', 121, { stage: 'pending', agentStatus: 0 }, 'done'],
  ['a conflict', 122, { stage: 'pending', agentStatus: 0 }, 'done'],
  ['the agent failed', 120, { stage: 'pending', agentStatus: 1 }, 'failed'],
  ['a limit', 124, { ...pending, agentStatus: 143, stoppedBecause: 'its time limit is reached' }, 'failed'],
  ['run-claude stop', 143, { ...pending, agentStatus: 143, stoppedBecause: 'run-claude stop' }, 'failed'],
  ['Ctrl-C', 130, { ...pending, agentStatus: 143, stoppedBecause: 'interrupted' }, 'interrupted'],
  ['Ctrl-C after the agent', 130, pending, 'interrupted'],
  ['killed', undefined, { stage: 'running' }, 'interrupted'],
  ['recovered', undefined, { stage: 'pending', stoppedBecause: 'run-claude was killed' }, 'interrupted'],
  ['never started', 125, { stage: 'failed' }, 'failed'],
  ['refused', 2, undefined, 'failed'],
  ['stopped before its session', 130, undefined, 'interrupted'],
] as const)('%s', (_, status, session, result) => {
  expect(judgeTask({ status, session, isEngineLost: false })).toBe(result);
});

it('without an engine a task is started again', () => {
  expect(judgeTask({ status: 125, session: { stage: 'failed' }, isEngineLost: true })).toBe('interrupted');
});

it('the status of a batch is that of the task that matters most', () => {
  const of = (...statuses: (number | undefined)[]): number =>
    sharedStatus(statuses.map((status) => statusOfTask(status === 0 || status === 120 ? 'done' : 'failed', status)));
  expect(of(0, 0)).toBe(0);
  expect(of(0, 3, 0)).toBe(3);
  expect(of(0, 120, 3)).toBe(120);
  expect(of(121, 120)).toBe(121);
  expect(of(124, 122)).toBe(124);
  // Stopped or killed by itself, or never started: not an interruption of the batch.
  for (const status of [130, 143, 2, undefined]) expect(of(124, status)).toBe(125);
});

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { runQueue } from '../../../../../src/cli/batch/tasks/run-queue.ts';

it('runs at most that many at a time, in their order', async () => {
  let [now, most] = [0, 0];
  const begun: number[] = [];
  const run = async (item: number): Promise<void> => {
    begun.push(item);
    most = Math.max(most, ++now);
    await sleep(item === 1 ? 20 : 2);
    now -= 1;
  };
  await runQueue([1, 2, 3, 4, 5], 2, { run, isStopped: () => false });
  expect([begun, most]).toEqual([[1, 2, 3, 4, 5], 2]);
});

it('starts no other once it is stopped, and waits for those that run', async () => {
  const ended: number[] = [];
  let isStopped = false;
  const run = async (item: number): Promise<void> => {
    isStopped = true;
    await sleep(5);
    ended.push(item);
  };
  await runQueue([1, 2, 3], 1, { run, isStopped: () => isStopped });
  expect(ended).toEqual([1]);
});

it('throws the first error when all have ended', async () => {
  const ended: number[] = [];
  const run = async (item: number): Promise<void> => {
    if (item === 1) throw new Error('first');
    await sleep(5);
    ended.push(item);
  };
  await expect(runQueue([1, 2, 3], 2, { run, isStopped: () => false })).rejects.toThrow('first');
  expect(ended).toEqual([2]);
});

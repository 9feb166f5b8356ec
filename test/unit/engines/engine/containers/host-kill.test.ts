import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { hostPidOf, killOnHost } from '../../../../../src/engines/engine/containers/host-kill.ts';

const inspecting = (answer: () => unknown) => ({ inspect: async () => answer() }) as never;

it('learns the process from the engine, or nothing', async () => {
  expect(await hostPidOf(inspecting(() => ({ State: { Pid: 4321 } })))).toBe(4321);
  for (const answer of [{ State: { Pid: 0 } }, { State: { Pid: 1 } }, { State: { Pid: 'x' } }, {}])
    expect(await hostPidOf(inspecting(() => answer))).toBeUndefined();
  const lost = (): never => {
    throw new Error('the engine is lost');
  };
  expect(await hostPidOf(inspecting(lost))).toBeUndefined();
});

it('ends a process of the container alone', async () => {
  const child = spawn('sleep', ['60']);
  const { pid = 0 } = child;
  const ended = once(child, 'exit');
  // The group of a container has its id; the group of this test has any other text.
  const [group = ''] = readFileSync(`/proc/${pid}/cgroup`, 'utf8').split('\n');
  expect(killOnHost(pid, 'f'.repeat(64))).toBe(false);
  expect(child.exitCode ?? child.signalCode).toBeNull();
  expect(killOnHost(pid, group)).toBe(true);
  expect(await ended).toEqual([null, 'SIGKILL']);
  expect(killOnHost(pid, group)).toBe(false);
});

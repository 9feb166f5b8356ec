import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { KeptProgram } from '../../../../src/session/kept/connection.ts';
import type { ProgramExit } from '../../../../src/session/kept/requests.ts';
import { programOf } from '../../../../src/session/kept/run-inside.ts';

/** A program whose runner was stopped by the agent: it passes on no signal, and never answers. */
function silentProgram(): KeptProgram & { readonly signals: readonly string[] } {
  let resolve: (exit: ProgramExit) => void = () => undefined;
  const promise = new Promise<ProgramExit>((done) => {
    resolve = done;
  });
  const signals: string[] = [];
  return {
    signals,
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    stdin: new PassThrough(),
    exit: promise,
    signal: (name) => void signals.push(name),
    cancel: () => undefined,
    abandon: () => resolve({ status: 137, timedOut: false }),
  };
}

it.each(['SIGTERM', 'SIGHUP'] as const)('a program that %s does not end is given up after a time', async (signal) => {
  const program = silentProgram();
  const inside = programOf(program, 100);
  const ended = inside.wait();
  await inside.kill(signal);
  expect(await Promise.race([ended, sleep(20, 'runs')])).toBe('runs');
  expect(program.signals).toEqual([signal]);
  expect(await Promise.race([ended, sleep(5000, 'runs')])).toBe(137);
});

it('a program is given up at the second Ctrl-C, not at the first', async () => {
  const program = silentProgram();
  const inside = programOf(program, 10);
  const ended = inside.wait();
  await inside.kill('SIGINT');
  expect(await Promise.race([ended, sleep(100, 'runs')])).toBe('runs');
  await inside.kill('SIGINT');
  expect(await ended).toBe(137);
});

import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openAgentRun } from '../../../../src/session/launch/agent-run.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** A run with the signals that its container got and the messages that were printed. */
function openRun() {
  const signals: string[] = [];
  const messages: string[] = [];
  const run = openAgentRun({ kill: async (signal) => void signals.push(signal) }, (event) => {
    if (event.kind === 'message') messages.push(event.text);
  });
  return { run, signals, messages };
}

it('stops with SIGTERM, after ten seconds with SIGKILL; the first reason counts', async () => {
  const { run, signals, messages } = openRun();
  run.stop('its time limit is reached');
  run.stop('the disk is full');
  expect(run.state).toEqual({ kind: 'stopping', reason: 'its time limit is reached' });
  await vi.advanceTimersByTimeAsync(9900);
  expect(signals).toEqual(['SIGTERM']);
  await vi.advanceTimersByTimeAsync(200);
  expect([signals, messages]).toEqual([['SIGTERM', 'SIGKILL'], ['Stopping the agent: its time limit is reached']]);
});

it('stops with SIGKILL at once an agent that would go on filling the disk', async () => {
  const { run, signals } = openRun();
  run.stopAtOnce('it has written too much');
  expect([run.state, signals.at(-1)]).toEqual([{ kind: 'stopping', reason: 'it has written too much' }, 'SIGKILL']);
});

it('sends no SIGKILL to an agent that ended after SIGTERM, and ignores requests to stop after its end', async () => {
  const { run, signals, messages } = openRun();
  run.stop('run-claude stop');
  await vi.advanceTimersByTimeAsync(1000);
  run.end();
  run.stop('its time limit is reached');
  await vi.advanceTimersByTimeAsync(60_000);
  expect([signals, messages]).toEqual([['SIGTERM'], ['Stopping the agent: run-claude stop']]);
});

it('keeps the first error of a failed start, also after a request to stop', () => {
  const { run } = openRun();
  run.stop('run-claude stop');
  run.failStart(new Error('no gateway'));
  run.failStart(new Error('the container does not start'));
  run.stop('its time limit is reached');
  expect(run.state).toEqual({ kind: 'start-failed', error: new Error('no gateway') });
});

it('never begins after the gateway failed', () => {
  const { run, signals } = openRun();
  run.failAtOnce(new Error('no gateway'));
  expect(() => run.begin()).toThrow('no gateway');
  expect(run.state).toEqual({ kind: 'start-failed', error: new Error('no gateway') });
  expect(signals).toEqual([]);
});

it('is killed at once when the gateway fails after it began, and once more where it was only being started', async () => {
  const { run, signals, messages } = openRun();
  const failure = new Error('no gateway');
  run.begin();
  await run.killIfStopping();
  expect(signals).toEqual([]);
  run.failAtOnce(failure);
  run.failAtOnce(new Error('a later error'));
  await run.killIfStopping();
  expect(run.state).toEqual({ kind: 'stopping', reason: 'no gateway', failure });
  expect([signals, messages]).toEqual([['SIGKILL', 'SIGKILL'], ['Stopping the agent: no gateway']]);
});

it('fails with the gateway’s error where the container was killed for it before its program ran', () => {
  const { run } = openRun();
  run.begin();
  run.failAtOnce(new Error('no gateway'));
  run.failStart(new Error('the container ended before it could show that it is as asked'));
  expect(run.state).toEqual({ kind: 'start-failed', error: new Error('no gateway') });
});

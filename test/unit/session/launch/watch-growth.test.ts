import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Container } from '../../../../src/core/types/engine.ts';
import { watchGrowth } from '../../../../src/session/launch/watch-growth.ts';
import { attachTerminal } from '../../../../src/terminal/attach/attach.ts';
import type { DiskHooks } from '../../../../src/workspace/collector/disk.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const WHY = 'it has written 1.5 GB (--disk allows 1.0 GB)';
const OVER = `over: ${WHY}.`;

/** A user's terminal attached to an agent whose disk is watched. The test has the streams and reports the disk. */
function scene(options: { readonly tty: boolean; readonly pauseFails?: boolean }) {
  const calls: string[] = [];
  const said: string[] = [];
  let hooks: DiskHooks | undefined;
  const workspace = {
    watchDisk(given: DiskHooks) {
      hooks = given;
      return { allowMore: () => void calls.push('allow more'), stop: () => void calls.push('watch ends') };
    },
  };
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  let end: (status: number) => void = () => undefined;
  const ended = new Promise<number>((resolve) => {
    end = resolve;
  });
  const agent = {
    id: 'x',
    name: 'x',
    stdout,
    stderr,
    stdin,
    start: async () => undefined,
    wait: () => ended,
    kill: async () => undefined,
    resize: async () => undefined,
    async pause() {
      calls.push('pause');
      if (options.pauseFails) throw new Error('no freezer');
    },
    unpause: async () => void calls.push('unpause'),
  } as unknown as Container;
  const terminal = {
    showOver: (lines: readonly string[]) => void calls.push(`over: ${lines[1]?.trim()}`),
    showAgent: () => void calls.push('agent'),
    modes: () => Buffer.alloc(0),
  };
  const growth = watchGrowth(workspace, agent, {
    terminal: () => (options.tty ? terminal : undefined),
    tell: (event) => {
      if (event.kind === 'message') said.push(event.text);
    },
    stop: (why) => void calls.push(`stop: ${why}`),
    stopAtOnce: (why) => void calls.push(`stop at once: ${why}`),
  });
  const typed = Object.assign(new PassThrough(), { isTTY: true, isRaw: false, setRawMode: () => undefined });
  const screen = Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 24 });
  const streams = { stdin: typed, stdout: screen, stderr: new PassThrough() };
  const signals = new EventEmitter();
  const attached = attachTerminal(agent, { streams, tty: options.tty, stdin: true, signals, onKeys: growth.keys });
  return {
    calls,
    said,
    hooks: hooks as unknown as DiskHooks,
    growth,
    /** What the agent got since it was last asked. */
    got: (): string => String(stdin.read() ?? ''),
    async type(keys: string) {
      typed.write(keys);
      await vi.advanceTimersByTimeAsync(0);
    },
    silence: () => vi.advanceTimersByTimeAsync(600),
    async [Symbol.asyncDispose]() {
      stdout.end();
      stderr.end();
      end(0);
      await vi.advanceTimersByTimeAsync(5000);
      await attached;
    },
  };
}

it('keys reach the agent until it is paused; then a single c after a silence allows more, and no key reaches the agent', async () => {
  await using s = scene({ tty: true });
  await s.silence();
  await s.type('cat c\x03');
  expect([s.got(), s.calls]).toEqual(['cat c\x03', []]);
  s.hooks.reached(WHY);
  expect([s.calls, s.said]).toEqual([['pause', OVER], [`The agent is paused: ${WHY}.`]]);
  // Typed before the question appeared: meant for the agent, and no answer.
  for (const keys of ['c', '\x03', 'check this']) await s.type(keys);
  await s.silence();
  await s.type('because');
  await s.silence();
  await s.type('\x1b[200~c\x1b[201~');
  expect([s.got(), s.calls]).toEqual(['', ['pause', OVER]]);
  await s.silence();
  await s.type('c');
  expect([s.got(), s.calls]).toEqual(['', ['pause', OVER, 'allow more', 'agent', 'unpause']]);
  // The disk reports free space a little later: nothing more happens.
  s.hooks.fell();
  await s.type('c');
  expect([s.got(), s.calls]).toEqual(['c', ['pause', OVER, 'allow more', 'agent', 'unpause']]);
});

it('Ctrl-C at the question stops the agent, and the key does not reach the agent', async () => {
  await using s = scene({ tty: true });
  s.hooks.reached(WHY);
  await s.silence();
  await s.type('\x03');
  expect([s.got(), s.calls.sort()]).toEqual(['', ['agent', OVER, 'pause', `stop: ${WHY}`, 'unpause']]);
});

it('continues the agent when there is space again, and asks again when there is none', async () => {
  await using s = scene({ tty: true });
  s.hooks.reached(WHY);
  await s.silence();
  s.hooks.fell();
  await vi.advanceTimersByTimeAsync(0);
  expect([s.calls, s.said.at(-1)]).toEqual([['pause', OVER, 'agent', 'unpause'], 'The agent continues.']);
  await s.type('typed');
  expect(s.got()).toBe('typed');
  s.hooks.reached(WHY);
  // The silence counts from the second question.
  await s.type('c');
  expect(s.calls).toEqual(['pause', OVER, 'agent', 'unpause', 'pause', OVER]);
  s.growth.stop();
  expect(s.calls.at(-1)).toBe('watch ends');
});

it('stops the agent at once without a terminal, and where it cannot be paused', async () => {
  await using piped = scene({ tty: false });
  piped.hooks.reached(WHY);
  expect(piped.calls).toEqual([`stop at once: ${WHY}`]);
  await using stuck = scene({ tty: true, pauseFails: true });
  stuck.hooks.reached(WHY);
  await vi.advanceTimersByTimeAsync(0);
  expect(stuck.calls).toEqual(['pause', OVER, 'agent', `stop at once: ${WHY}`]);
  await stuck.type('typed');
  expect(stuck.got()).toBe('typed');
});

import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Screen } from '../../../src/terminal/screen.ts';
import { dropTyped, SILENCE_MS } from '../../../src/terminal/silence.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** The silence before a question, and whether it has come. */
function waiting() {
  const modes: boolean[] = [];
  const stdin = Object.assign(new PassThrough(), { isRaw: false, setRawMode: (raw: boolean) => modes.push(raw) });
  const seen: { quiet?: boolean } = {};
  void dropTyped({ stdin } as unknown as Screen, SILENCE_MS).then((quiet) => {
    seen.quiet = quiet;
  });
  const after = async (ms: number, keys?: string): Promise<boolean | undefined> => {
    await vi.advanceTimersByTimeAsync(ms);
    if (keys !== undefined) stdin.write(keys);
    await vi.advanceTimersByTimeAsync(0);
    return seen.quiet;
  };
  return { stdin, modes, after };
}

it('a question waits for half a second without a key, and discards earlier keys', async () => {
  const { stdin, modes, after } = waiting();
  for (const keys of ['y', '\r', 'y\r', ' ', 'y\r']) expect(await after(400, keys)).toBeUndefined();
  expect(await after(499)).toBeUndefined();
  expect(await after(1)).toBe(true);
  expect([modes, stdin.read()]).toEqual([[true, false], null]);
});

it('Ctrl-C and the end of input are a no at once', async () => {
  expect(await waiting().after(100, 'y\x03')).toBe(false);
  const gone = waiting();
  gone.stdin.end();
  expect(await gone.after(0)).toBe(false);
});

/** How far the clock of a file system may be behind this machine's: it ticks a hundred times a second, or more. */
export const TICK_MS = 20;

/**
 * Waits until the tick of a file's change time is over. Content that is read then lacks nothing that was written in that
 * tick: whatever comes later has another change time, which the next walk sees.
 */
export function waitForTick(ctimeMs: number, tickMs: number): void {
  const rest = ctimeMs + tickMs - Date.now();
  // A clock that is ahead, of another machine, is not waited for.
  if (rest > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Math.min(rest, tickMs));
}

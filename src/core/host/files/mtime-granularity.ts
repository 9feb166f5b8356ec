/** How far the clock of a file system may be behind this machine's: it advances at least a hundred times a second. */
export const TICK_MS = 20;

/**
 * Waits until the file system's clock has advanced past a file's change time. Content that is read then includes every
 * write with that change time: a later write gets another one, which the next walk finds.
 */
export function waitForTick(ctimeMs: number, tickMs: number): void {
  const rest = ctimeMs + tickMs - Date.now();
  // Does not wait for a clock that is ahead, of another machine.
  if (rest > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Math.min(rest, tickMs));
}

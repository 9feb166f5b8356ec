/** When a running session's layer is looked at again, and when its ignored output is counted. */
export interface LookPace {
  /** Before each look: whether it also counts ignored output. The first and the last do. */
  begin(running: boolean): boolean;
  /** After each look: how long to wait. */
  end(changed: boolean): number;
}

const EVERY_MS = 900;
/** One part in this many of the time goes to looks while things happen, */
const BUSY_SHARE = 30;
/** and when nothing has happened for some looks. */
const IDLE_SHARE = 120;
const IDLE_AFTER = 5;
/** Ignored output may be a hundred times the rest. */
const COUNTING_SHARE = 400;

/**
 * Idle looks together stay under 1% of a core; where a look is short, which is where few things have changed, they come
 * every second all the same.
 */
export function lookPace(nowMs: () => number): LookPace {
  let started = 0;
  let counting = true;
  let nextCount = Number.NEGATIVE_INFINITY;
  let quiet = 0;
  let plainMs = 0;
  return {
    begin(running) {
      started = nowMs();
      counting = !running || started >= nextCount;
      return counting;
    },
    end(changed) {
      const tookMs = nowMs() - started;
      quiet = changed ? 0 : quiet + 1;
      if (counting) nextCount = nowMs() + Math.max(EVERY_MS, COUNTING_SHARE * tookMs);
      else plainMs = tookMs;
      return Math.max(EVERY_MS, (quiet < IDLE_AFTER ? BUSY_SHARE : IDLE_SHARE) * plainMs);
    },
  };
}

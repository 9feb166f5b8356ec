/**
 * Times as Node can set them: it takes seconds as a double and rounds down to the microsecond, so half of one is added
 * that the microsecond meant is the one that is set.
 */

/** Of a time in nanoseconds, as decimal text. */
export function settableTime(ns: string): number {
  const whole = BigInt(ns);
  const micros = whole / 1000n - (whole % 1000n < 0n ? 1n : 0n);
  return (Number(micros) + 0.5) / 1e6;
}

/** Of a time in milliseconds as Node tells it: a double tells microseconds apart, no more. Never later than that. */
export function settableTimeOfMs(ms: number): number {
  return (Math.floor(ms * 1000) + 0.5) / 1e6;
}

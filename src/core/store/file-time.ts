/**
 * Times as Node can set them: it takes seconds as a double and rounds down to the microsecond, so half a microsecond is
 * added to make it set the intended one.
 */

/** From nanoseconds as decimal text. */
export function settableTime(ns: string): number {
  const whole = BigInt(ns);
  const micros = whole / 1000n - (whole % 1000n < 0n ? 1n : 0n);
  return (Number(micros) + 0.5) / 1e6;
}

/** From milliseconds as Node's stat returns them, exact to the microsecond. Never later than that time. */
export function settableTimeOfMs(ms: number): number {
  return (Math.floor(ms * 1000) + 0.5) / 1e6;
}

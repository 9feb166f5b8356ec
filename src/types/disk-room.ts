// Room on the disk of sessions. The plan, the start, `doctor` and the watch over a session compute with these.

/**
 * What a writer of about 2.5 GB/s adds between two polls near the limit, and until the container is paused. The polls are
 * {@link NEAR_POLL_MS} apart there.
 */
export const OVERSHOOT_MB = 128;
/** Time between two polls of the disk, in milliseconds, where the limit could be reached in that time. */
export const NEAR_POLL_MS = 50;
/** Below this free space, in MB, no session starts. */
export const MIN_START_MB = 512;

/**
 * The largest useful limit for what a session writes, in MB: the collection needs as much again for the copies that are
 * frozen, and both sides the overshoot.
 */
export function writableMb(freeMb: number): number {
  return Math.max(0, Math.floor(freeMb / 2) - OVERSHOOT_MB);
}

// Room on the disk of sessions. The plan, the start, `doctor` and the watch over a session compute with these.

/**
 * Half of the free space without this is the largest useful limit for what a session writes: the collection needs as much
 * again for the copies that are frozen. It is what a writer of about 2.5 GB/s adds in 100 ms: between two polls near the
 * limit, which are {@link NEAR_POLL_MS} apart, and until the container is paused or killed.
 */
export const OVERSHOOT_MB = 256;
/** The rate of that writer. */
export const FAST_BYTES_PER_MS = (OVERSHOOT_MB * 2 ** 20) / 100;
/** Time between two polls of the disk, in milliseconds, where the limit could be reached in that time. */
export const NEAR_POLL_MS = 25;
/** Below this free space, in MB, no session starts. */
export const MIN_START_MB = 768;

import { FAST_BYTES_PER_MS, NEAR_POLL_MS, OVERSHOOT_MB } from '../../core/text/disk-room.ts';
import type { Space } from './wire.ts';

export interface DiskWatch {
  /** Doubles the limit and halves the reserve, after the user let the session go on. */
  allowMore(): void;
  stop(): void;
}

export interface DiskHooks {
  /** The limit or the reserve of free space is reached: pause or stop. Called once until {@link DiskHooks.fell} or allowMore. */
  reached(why: string): void;
  /** Below the limit again, for instance because the user freed space. */
  fell(): void;
}

export interface DiskLimits {
  /** What the session may add. */
  readonly bytes: number;
  readonly entries: number;
  /** What stays free, independent of the limit. */
  readonly reserveBytes: number;
}

/** What a session has written. */
export interface Written {
  readonly bytes: number;
  readonly entries: number;
}

export interface DiskSource {
  /** Of the file system that holds the layer; cheap at any size of tree. */
  space(): Promise<Space>;
  /** By a walk of the layer: asked only when the file system lost as much as the session may add. */
  written(): Promise<Written>;
}

/** Reserve on the disk that holds the session's layer; on a small disk it is what the limit leaves. */
export const DISK_RESERVE_BYTES = 2 * 1024 ** 3;
/** How many entries a session may make at first; --disk does not change it. */
export const ENTRIES_MAX = 2_000_000;
const EVERY_MS = 1000;
/** At most this fraction of the time goes into walks. */
const WALK_SHARE = 20;
/** More entries than a session makes: where only a walk counts them, the next one waits until the limit could be reached. */
const ENTRIES_PER_MS = 50;

/**
 * Polls the file system that holds the layer. What it lost since the session began may be the work of others: the layer
 * itself is measured before the session is held responsible. The reserve counts whoever took it.
 */
export function watchSpace(source: DiskSource, limits: DiskLimits, hooks: DiskHooks): DiskWatch {
  let allowed = limits;
  let first: Space | undefined;
  let over = false;
  let askAgain = false;
  let ended = false;
  let nextWalk = 0;
  let timer: NodeJS.Timeout | undefined;
  /** What can be written before the next poll has to find a limit reached, as far as the file system tells. */
  let roomBytes = 0;

  const whyOver = async (): Promise<string | undefined> => {
    const now = await source.space();
    if (first === undefined) {
      first = now;
      // On a small disk: what the limit leaves, and at least what the collection may need.
      const useful = Math.min(allowed.bytes, Math.max(0, now.available / 2 - OVERSHOOT_MB * 2 ** 20));
      allowed = { ...allowed, reserveBytes: Math.min(allowed.reserveBytes, now.available - useful) };
    }
    const reserveRoom = now.available - allowed.reserveBytes;
    // Beyond the limit others wrote too: only the next walk tells how much of it.
    const limitRoom = allowed.bytes - (first.free - now.free);
    roomBytes = limitRoom < 0 ? reserveRoom : Math.min(reserveRoom, limitRoom);
    if (now.available < allowed.reserveBytes) return `only ${gigabytes(now.available)} of the disk are free`;
    const lost = { bytes: first.free - now.free, entries: first.inodesFree - now.inodesFree };
    const lostTooMuch = overLimit(lost, allowed) !== undefined;
    // Where the file system counts no inodes (btrfs), only a walk finds new entries.
    const countless = now.inodes === 0;
    // Others freed space, which hides an unknown part of what the session wrote.
    const masked = now.free > first.free || now.inodesFree > first.inodesFree;
    if (!lostTooMuch && !countless && !masked) return undefined;
    if (Date.now() < nextWalk) return over ? '' : undefined;
    const started = Date.now();
    const used = await source.written().catch((error: { code?: string }) => {
      if (error.code !== 'COLLECTOR_TOO_MANY') throw error;
      return { bytes: 0, entries: allowed.entries + 1 };
    });
    const why = overLimit(used, allowed);
    if (masked) first = { ...now, free: now.free + used.bytes, inodesFree: now.inodesFree + used.entries };
    const waitMs = lostTooMuch || masked || why !== undefined ? 0 : (allowed.entries - used.entries) / ENTRIES_PER_MS;
    nextWalk = Date.now() + Math.max(EVERY_MS, waitMs, WALK_SHARE * (Date.now() - started));
    return why;
  };
  const look = async (): Promise<void> => {
    const why = await whyOver();
    if (ended) return;
    const was = over;
    over = why !== undefined;
    if (why === undefined && was) hooks.fell();
    if (why === undefined || why === '' || (was && !askAgain)) return;
    askAgain = false;
    hooks.reached(why);
  };
  // Over the limit there is no hurry: the agent is paused or stopped.
  const waitMs = (): number =>
    over ? EVERY_MS : Math.min(EVERY_MS, Math.max(NEAR_POLL_MS, roomBytes / FAST_BYTES_PER_MS));
  const round = (): void => {
    look()
      // A lost collector is reported by the next request that matters. What could not be read is read again.
      .catch((error: { code?: string }) => {
        ended = error.code === 'COLLECTOR_LOST' || error.code === 'COLLECTOR_PROTOCOL';
      })
      .finally(() => {
        if (!ended) timer = setTimeout(round, waitMs()).unref();
      });
  };
  round();
  return {
    allowMore() {
      const { bytes, entries, reserveBytes } = allowed;
      allowed = { bytes: bytes * 2, entries: entries * 2, reserveBytes: reserveBytes / 2 };
      nextWalk = 0;
      // Twice as much may still be too little.
      askAgain = true;
    },
    stop() {
      ended = true;
      clearTimeout(timer);
    },
  };
}

function overLimit(used: Written, limits: DiskLimits): string | undefined {
  if (used.bytes > limits.bytes)
    return `it has written ${gigabytes(used.bytes)} (--disk allows ${gigabytes(limits.bytes)})`;
  if (used.entries > limits.entries) return `it has made ${used.entries} files (at most ${limits.entries})`;
  return undefined;
}

function gigabytes(bytes: number): string {
  if (bytes < 1024 ** 3 / 10) return `${(bytes / 1024 ** 2).toFixed(1)} MB`;
  return `${(bytes / 1024 ** 3).toFixed(bytes < 1024 ** 3 ? 2 : 1)} GB`;
}

import type { Space } from './collector-wire.ts';
import type { DiskHooks } from './workspace.ts';

export interface DiskLimits {
  /** What the session may add. */
  readonly bytes: number;
  readonly entries: number;
  /** What stays free whatever the limit says. */
  readonly reserveBytes: number;
}

export const DISK_RESERVE_BYTES = 2 * 1024 ** 3;
export const ENTRIES_MAX = 2_000_000;
const EVERY_MS = 1000;

/**
 * Polls the file system that holds the layer: what it lost since the session began counts as the session's. Cheap at
 * any size of tree; what others write there counts too, so a person is told how it was measured.
 */
export function watchSpace(space: () => Promise<Space>, limits: DiskLimits, hooks: DiskHooks): () => void {
  let first: Space | undefined;
  let over = false;
  let ended = false;
  let timer: NodeJS.Timeout | undefined;
  const look = async (): Promise<void> => {
    const now = await space();
    first ??= now;
    const why = overLimit(first, now, limits);
    if (ended) return;
    if (why !== undefined && !over) hooks.reached(why);
    if (why === undefined && over) hooks.fell();
    over = why !== undefined;
  };
  const round = (): void => {
    look()
      // A lost collector is told by whoever asks it for something that matters.
      .catch(() => {
        ended = true;
      })
      .finally(() => {
        if (!ended) timer = setTimeout(round, EVERY_MS).unref();
      });
  };
  round();
  return () => {
    ended = true;
    clearTimeout(timer);
  };
}

function overLimit(first: Space, now: Space, limits: DiskLimits): string | undefined {
  const gigabytes = (bytes: number): string => `${(bytes / 1024 ** 3).toFixed(1)} GB`;
  const used = first.free - now.free;
  const made = first.inodesFree - now.inodesFree;
  if (used > limits.bytes)
    return `the disk holds ${gigabytes(used)} more than at start (--disk ${gigabytes(limits.bytes)})`;
  if (made > limits.entries) return `the disk holds ${made} more entries than at start (at most ${limits.entries})`;
  if (now.available < limits.reserveBytes) return `only ${gigabytes(now.available)} of the disk are free`;
  return undefined;
}

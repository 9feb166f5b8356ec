import { rmSync } from 'node:fs';
import { removeTree } from '../../core/host/files/remove-tree.ts';
import { withLock } from '../../core/store/lock.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import type { MadeCache } from '../../core/types/setup/cache.ts';
import { type KnownCache, knownCaches, lockOf, markerOf } from './marker.ts';
import { cacheLabel, cacheVolume } from './place.ts';

const DAY_MS = 86_400_000;
/** A younger one without a marker may be filled now. */
const FILLING_MS = DAY_MS;

/** A cache that can be removed. */
export interface UnusedCache {
  readonly dir: string;
  readonly why: string;
  readonly remove: () => Promise<void>;
}

/** Caches that none of these sessions uses, and that no start used for that long; or that were not filled to the end. */
export function unusedCaches(
  cacheDir: string,
  used: readonly MadeCache[],
  nowMs: number,
  keptMs: number,
): UnusedCache[] {
  return knownCaches(cacheDir).flatMap((cache) => {
    const why = used.some(({ address }) => address === cache.address) ? undefined : whyUnused(cache, nowMs, keptMs);
    if (why === undefined) return [];
    const isStillUnused = (now: KnownCache): boolean => whyUnused(now, Date.now(), keptMs) !== undefined;
    return [{ dir: cache.dir, why, remove: () => removeCache(cacheDir, cache, undefined, isStillUnused) }];
  });
}

function whyUnused({ marker, usedMs }: KnownCache, nowMs: number, keptMs: number): string | undefined {
  const ageMs = nowMs - usedMs;
  if (ageMs < (marker === undefined ? FILLING_MS : keptMs)) return undefined;
  return marker === undefined ? 'it was not filled to the end' : `unused for ${Math.floor(ageMs / DAY_MS)} days`;
}

/**
 * Removes a cache where `isRemovable` still holds once nobody fills it. The marker is removed first: half a cache is not
 * used. Without an engine a volume is left for the next gc.
 */
export async function removeCache(
  cacheDir: string,
  { address, dir }: Pick<KnownCache, 'address' | 'dir'>,
  engine: Pick<Runtime, 'removeVolume'> | undefined,
  isRemovable: (now: KnownCache) => boolean = () => true,
): Promise<void> {
  await withLock(lockOf(dir), { what: 'removing a cache' }, async () => {
    const now = knownCaches(cacheDir).find((one) => one.address === address);
    if (now === undefined || !isRemovable(now)) return;
    rmSync(markerOf(dir), { force: true });
    await engine?.removeVolume(cacheVolume(address));
    await removeTree(dir);
  });
}

/** Labels of the volumes of all caches on this machine. */
export function cacheLabels(cacheDir: string): string[] {
  return knownCaches(cacheDir).map(({ address }) => cacheLabel(address));
}

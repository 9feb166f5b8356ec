import { existsSync, readdirSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { readJson } from '../../core/store/record.ts';
import { CACHE_NAMES, type CacheName } from '../../core/types/setup/cache.ts';
import { cachesDir, isCacheAddress } from './place.ts';

/** What is known about a filled cache. Written last: a directory without it is what a killed command left. */
export interface CacheMarker {
  readonly version: 1;
  readonly ecosystem: CacheName;
  /** The project whose lock files named its packages. */
  readonly project: string;
  readonly lockFiles: readonly string[];
  readonly image: string;
  /** How many packages the archives are of. Earlier releases did not write it. */
  readonly packages?: number;
  readonly bytes: number;
  /** ISO 8601. */
  readonly filled: string;
  /** The paths of its archives. */
  readonly paths: readonly string[];
}

/** The marker's modification time is that of the last use. */
export function markerOf(dir: string): string {
  return join(dir, 'filled.json');
}

/** Held while a cache is filled or removed. */
export function lockOf(dir: string): string {
  return `${dir}.lock`;
}

/** Undefined for a directory that is not a filled cache of this version. */
export function readMarker(dir: string): CacheMarker | undefined {
  let found: unknown;
  try {
    found = readJson(markerOf(dir), '');
  } catch {
    // A damaged file: the cache is filled again.
    return undefined;
  }
  if (typeof found !== 'object' || found === null || Reflect.get(found, 'version') !== 1) return undefined;
  return CACHE_NAMES.some((name) => name === Reflect.get(found, 'ecosystem')) ? (found as CacheMarker) : undefined;
}

/** What removes unused caches finds it young from now on. */
export function markUsed(dir: string): void {
  const now = new Date();
  utimesSync(markerOf(dir), now, now);
}

/** A cache on this machine. */
export interface KnownCache {
  readonly address: string;
  readonly dir: string;
  /** Undefined for one that was not filled to its end. */
  readonly marker: CacheMarker | undefined;
  /** When it was used last, or when its filling began. Milliseconds since the epoch. */
  readonly usedMs: number;
}

/** Every cache on this machine, the one that was used last first. */
export function knownCaches(cacheDir: string): KnownCache[] {
  const top = cachesDir(cacheDir);
  const names = existsSync(top) ? readdirSync(top).filter(isCacheAddress) : [];
  return names
    .flatMap((address): KnownCache[] => {
      const dir = join(top, address);
      const stat = statSync(markerOf(dir), { throwIfNoEntry: false }) ?? statSync(dir, { throwIfNoEntry: false });
      return stat === undefined ? [] : [{ address, dir, marker: readMarker(dir), usedMs: stat.mtimeMs }];
    })
    .sort((a, b) => b.usedMs - a.usedMs);
}

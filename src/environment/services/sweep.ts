import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { withLock } from '../../core/store/lock.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import { seedLabel, seedLock, seedMark, seedsDir, seedVolume } from './seed.ts';

const DAY_MS = 86_400_000;

/** Data of a service's seed that can be removed. */
export interface UnusedSeed {
  readonly volume: string;
  readonly why: string;
  readonly remove: () => Promise<void>;
}

/** Data of seeds that no start used for that long. A session has a copy: a removed one is made again. */
export function unusedSeeds(cacheDir: string, engine: Runtime, nowMs: number, keptMs: number): UnusedSeed[] {
  return seeds(cacheDir).flatMap((address) => {
    const ageMs = nowMs - (lastUseMs(cacheDir, address) ?? nowMs);
    if (ageMs < keptMs) return [];
    const remove = () => removeSeed(address, { cacheDir, engine, keptMs });
    return [{ volume: seedVolume(address), why: `unused for ${Math.floor(ageMs / DAY_MS)} days`, remove }];
  });
}

/** What a start used since it was listed stays. The mark is removed first: half of the data is not used. */
async function removeSeed(
  address: string,
  { cacheDir, engine, keptMs }: { readonly cacheDir: string; readonly engine: Runtime; readonly keptMs: number },
): Promise<void> {
  await withLock(seedLock(cacheDir, address), { what: 'removing unused data of a seed' }, async () => {
    const usedMs = lastUseMs(cacheDir, address);
    if (usedMs !== undefined && Date.now() - usedMs < keptMs) return;
    rmSync(seedMark(cacheDir, address), { force: true });
    await engine.removeVolume(seedVolume(address));
  });
}

/** Labels of the volumes of all seeds on this machine. */
export function seedLabels(cacheDir: string): string[] {
  return seeds(cacheDir).map(seedLabel);
}

function lastUseMs(cacheDir: string, address: string): number | undefined {
  return statSync(seedMark(cacheDir, address), { throwIfNoEntry: false })?.mtimeMs;
}

function seeds(cacheDir: string): string[] {
  const dir = seedsDir(cacheDir);
  const names = existsSync(dir) ? readdirSync(dir) : [];
  return names.flatMap((name) => /^([0-9a-f]{32})\.json$/.exec(name)?.[1] ?? []);
}

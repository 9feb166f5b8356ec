import { existsSync, lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { removeTreeSync } from '../../../core/host/files/remove-tree.ts';
import { isLocked, takeLock } from '../../../core/store/lock.ts';
import { genDir, newestGeneration } from './generation.ts';
import { generationRefs } from './generation-refs.ts';
import { readHeader } from './manifest.ts';

export interface SweptBase {
  readonly dir: string;
  readonly unusedDays: number;
  /** No generation of it can be used, or its last update did not end. */
  readonly broken: boolean;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Removes the bases below `basesDir` that no session references, and that are broken or that no start used for `days`.
 * Gives them; with `dryRun` only gives them. A base that another run-claude is using is left.
 */
export async function sweepBases(basesDir: string, days: number, dryRun: boolean): Promise<readonly SweptBase[]> {
  const swept: SweptBase[] = [];
  if (!existsSync(basesDir)) return swept;
  for (const name of readdirSync(basesDir)) {
    const dir = path.join(basesDir, name);
    // Before the lock, which changes the directory's time.
    const unusedDays = (Date.now() - lastUse(dir)) / DAY_MS;
    const broken = isBroken(dir);
    const isWanted = (): boolean => isUsed(dir) || (unusedDays < days && !isBroken(dir));
    if (isWanted() || isLocked(lockOf(dir))) continue;
    if (!dryRun) {
      const release = await takeLock(lockOf(dir), { what: 'removing an unused private copy' }).catch(
        (error: { code?: string }) => {
          if (error.code === 'LOCK_HELD') return undefined;
          throw error;
        },
      );
      if (release === undefined) continue;
      // A start that held the lock until now may use it, or have repaired it.
      if (isWanted()) release();
      else removeTreeSync(dir);
      if (existsSync(dir)) continue;
    }
    swept.push({ dir, unusedDays, broken });
  }
  return swept;
}

function lockOf(dir: string): string {
  return path.join(dir, 'lock');
}

function lastUse(dir: string): number {
  const times = [dir, path.join(dir, 'users'), path.join(dir, 'gen')].map(
    (one) => lstatSync(one, { throwIfNoEntry: false })?.mtimeMs ?? 0,
  );
  return Math.max(...times);
}

/** Whether a start left generations behind of which the newest cannot be used as it is. */
function isBroken(dir: string): boolean {
  const gen = path.join(dir, 'gen');
  if (!existsSync(gen) || readdirSync(gen).length === 0) return false;
  const newest = newestGeneration(dir);
  if (newest === undefined) return true;
  return readHeader(genDir(dir, newest)) === undefined || existsSync(path.join(genDir(dir, newest), 'journal'));
}

function isUsed(dir: string): boolean {
  return generationRefs(dir).length > 0;
}

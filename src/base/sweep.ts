import { existsSync, lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { removeTreeSync } from '../host/remove-tree.ts';
import { takeLock } from '../store/lock.ts';
import { generationRefs } from './generation-refs.ts';

export interface SweptBase {
  readonly dir: string;
  readonly unusedDays: number;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Removes the bases below `basesDir` that no session references and that no start used for `days`, and gives them; with
 * `dryRun` only gives them. A base that another run-claude is using is left.
 */
export async function sweepBases(basesDir: string, days: number, dryRun: boolean): Promise<readonly SweptBase[]> {
  const swept: SweptBase[] = [];
  if (!existsSync(basesDir)) return swept;
  for (const name of readdirSync(basesDir)) {
    const dir = path.join(basesDir, name);
    const unusedDays = (Date.now() - lastUse(dir)) / DAY_MS;
    if (unusedDays < days || isUsed(dir)) continue;
    if (!dryRun) {
      const release = await takeLock(path.join(dir, 'lock'), { what: 'removing an unused private copy' }).catch(
        (error: { code?: string }) => {
          if (error.code === 'LOCK_HELD') return undefined;
          throw error;
        },
      );
      if (release === undefined) continue;
      if (isUsed(dir)) release();
      else removeTreeSync(dir);
      if (existsSync(dir)) continue;
    }
    swept.push({ dir, unusedDays });
  }
  return swept;
}

function lastUse(dir: string): number {
  const times = [dir, path.join(dir, 'users'), path.join(dir, 'gen')].map(
    (one) => lstatSync(one, { throwIfNoEntry: false })?.mtimeMs ?? 0,
  );
  return Math.max(...times);
}

function isUsed(dir: string): boolean {
  return generationRefs(dir).length > 0;
}

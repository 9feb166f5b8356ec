import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';

/** The directory with one directory for each batch. */
export function batchesDir(stateDir: string): string {
  return path.join(stateDir, 'batches');
}

/** Every batch, and when a record in its directory was last written. */
export function listBatches(stateDir: string): { readonly dir: string; readonly usedMs: number }[] {
  try {
    const entries = readdirSync(batchesDir(stateDir), { withFileTypes: true });
    return entries.flatMap((entry) => {
      const dir = path.join(batchesDir(stateDir), entry.name);
      const usedMs = entry.isDirectory() ? statSync(dir, { throwIfNoEntry: false })?.mtimeMs : undefined;
      return usedMs === undefined ? [] : [{ dir, usedMs }];
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

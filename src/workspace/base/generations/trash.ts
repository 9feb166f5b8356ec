import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { removeEntriesInBackground, removeTreeSync } from '../../../core/host/files/remove-tree.ts';
import { makePrivateDir } from '../../../core/store/record.ts';

// Unreferenced generations are moved to the trash, `gone/` in a base's directory: removing a large tree takes seconds,
// which would delay a start.

function trashDir(dir: string): string {
  return path.join(dir, 'gone');
}

/** Moves a generation to the trash. */
export function moveToTrash(dir: string, number: number): void {
  makePrivateDir(trashDir(dir));
  const from = path.join(dir, 'gen', String(number));
  try {
    renameSync(from, path.join(trashDir(dir), `${number}-${randomBytes(4).toString('hex')}`));
  } catch (error) {
    // A directory of a lower layer cannot be renamed where this machine's disk is an overlay itself.
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    // Without a manifest, what a kill leaves of it is not taken for a generation.
    rmSync(path.join(from, 'manifest'), { force: true });
    removeTreeSync(from);
  }
}

/** Whether the trash holds anything. */
export function hasTrash(dir: string): boolean {
  return existsSync(trashDir(dir)) && readdirSync(trashDir(dir)).length > 0;
}

/** Empties the trash. */
export function emptyTrash(dir: string): void {
  for (const name of existsSync(trashDir(dir)) ? readdirSync(trashDir(dir)) : [])
    removeTreeSync(path.join(trashDir(dir), name));
}

/** As {@link emptyTrash}, in its own process that no command waits for; what it leaves, the next one removes. */
export function emptyTrashLater(dir: string): void {
  // Where these programs are missing, gc empties the trash.
  if (hasTrash(dir)) removeEntriesInBackground(trashDir(dir));
}

import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { removeEntriesInBackground, removeTreeSync } from '../host/remove-tree.ts';
import { makePrivateDir } from '../store/record.ts';

// What nobody stands on any more waits in `gone/` of a base's directory: to remove a large tree takes seconds, and a
// start has no time for that.

function goneDir(dir: string): string {
  return path.join(dir, 'gone');
}

/** Takes a generation away from where anybody looks for one. */
export function setAside(dir: string, number: number): void {
  makePrivateDir(goneDir(dir));
  const from = path.join(dir, 'gen', String(number));
  try {
    renameSync(from, path.join(goneDir(dir), `${number}-${randomBytes(4).toString('hex')}`));
  } catch (error) {
    // A directory of a lower layer cannot be renamed where this machine's disk is an overlay itself.
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    // Nobody may take for whole what a kill leaves of it.
    rmSync(path.join(from, 'manifest'), { force: true });
    removeTreeSync(from);
  }
}

/** Whether something waits to be removed. */
export function isAnythingGone(dir: string): boolean {
  return existsSync(goneDir(dir)) && readdirSync(goneDir(dir)).length > 0;
}

/** Removes what was set aside. */
export function removeGone(dir: string): void {
  for (const name of existsSync(goneDir(dir)) ? readdirSync(goneDir(dir)) : [])
    removeTreeSync(path.join(goneDir(dir), name));
}

/** As {@link removeGone}, by a process that nobody waits for; what it does not get to is left to the next. */
export function removeGoneLater(dir: string): void {
  if (isAnythingGone(dir)) removeEntriesInBackground(goneDir(dir));
}

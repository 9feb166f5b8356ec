import { chmodSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import { fsPath } from '../scan/walk.ts';
import { parentPath } from '../text/path.ts';

/**
 * Removes what lies in a tree whose files another generation may hold too; no error when it is gone already. Closed
 * directories, the one above with them, are opened; a file's mode is the other generation's as well, and stays.
 */
export function removeShared(tree: string, below: string): void {
  const at = (path: string): string | Buffer => fsPath(path === '' ? tree : `${tree}/${path}`);
  const remove = (): void => rmSync(at(below), { recursive: true, force: true });
  try {
    remove();
  } catch (error) {
    if (!['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    openDirectory(at(parentPath(below)));
    openAll(at(below));
    remove();
  }
}

/** Gives a directory of ours back to its owner; nothing else, and never by a link. */
export function openDirectory(path: string | Buffer): boolean {
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return false;
  chmodSync(path, 0o700);
  return true;
}

function openAll(path: string | Buffer): void {
  if (!openDirectory(path)) return;
  for (const entry of readdirSync(path, { withFileTypes: true, encoding: 'buffer' })) {
    if (entry.isDirectory()) openAll(Buffer.concat([Buffer.from(path), Buffer.from('/'), entry.name]));
  }
}

import { chmodSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import { fsPath } from '../scan/walk.ts';
import { parentPath } from '../text/path.ts';

/**
 * Removes an entry of a tree whose files another generation may share; no error when there is none. Closed directories,
 * the parent among them, are opened. Modes of files stay, since they are the other generation's too.
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

/** Lets a directory's owner write to it; false for anything else. Never follows a link. */
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

import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import { decodeBytes } from '../../../core/text/path.ts';
import type { Step } from '../disk/steps/steps.ts';

/**
 * Paths among these steps whose file has several names, all of them in the project: written in place, so that they
 * stay names of one file. A file with a name elsewhere (a package store) is not among them: changing it there is not
 * ours, so its name in the project gets its own file. Reads names only; follows no link.
 */
export function insideLinks(project: string, steps: readonly Step[]): ReadonlySet<string> {
  const wanted = new Map<string, { readonly paths: string[]; readonly nlink: number }>();
  for (const { path, pre } of steps) {
    if (pre === undefined || pre.nlink < 2) continue;
    const inode = inodeOf(pre.fingerprint);
    const known = wanted.get(inode) ?? { paths: [], nlink: pre.nlink };
    known.paths.push(path);
    wanted.set(inode, known);
  }
  if (wanted.size === 0) return new Set();
  const names = new Map<string, number>();
  countNames(Buffer.from(project), wanted, names);
  return new Set([...wanted].flatMap(([inode, { paths, nlink }]) => (names.get(inode) === nlink ? paths : [])));
}

function inodeOf(fingerprint: string): string {
  return fingerprint.split(':').slice(0, 2).join(':');
}

function countNames(folder: Buffer, wanted: ReadonlyMap<string, unknown>, names: Map<string, number>): void {
  for (const entry of listed(folder)) {
    const path = Buffer.concat([folder, Buffer.from('/'), entry.name]);
    if (entry.isDirectory()) {
      if (decodeBytes(entry.name) !== '.git') countNames(path, wanted, names);
    } else if (entry.isFile()) {
      const { dev, ino } = lstatSync(path, { bigint: true });
      const inode = `${dev}:${ino}`;
      if (wanted.has(inode)) names.set(inode, (names.get(inode) ?? 0) + 1);
    }
  }
}

/** A folder that cannot be read may hold a name: then not all are found, and the file is left as it is there. */
function listed(folder: Buffer): Dirent<Buffer>[] {
  try {
    return readdirSync(folder, { withFileTypes: true, encoding: 'buffer' });
  } catch (error) {
    if (['EACCES', 'ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
}

import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, readlinkSync } from 'node:fs';
import { rowsOf } from '../scan/packed-directory.ts';
import { readSections } from '../scan/snapshot.ts';
import { fsPath } from '../scan/walk.ts';
import { decodeBytes, type RelPath } from '../text/path.ts';

/** One entry that the project had when the session began. */
export interface BaseEntry {
  readonly path: RelPath;
  readonly kind: 'file' | 'dir' | 'symlink';
  readonly size: number;
}

/** What a session stands on, as this machine has it: no session writes there, so the host may open it. */
export interface BaseTree {
  /** Parents before children, nothing of any `.git`. Costs no look at the disk but at its own list. */
  entries(): Iterable<BaseEntry>;
  /** Content of a regular file; undefined when it is gone or something else. */
  read(file: RelPath): Buffer | undefined;
  /** Target of a link; undefined when it is none. */
  target(link: RelPath): string | undefined;
}

const KINDS = { f: 'file', m: 'file', g: 'file', d: 'dir', l: 'symlink' } as const;

/** By the list in `manifest`, the entries below one of `trees`, the winning one first. */
export function openBaseTree(manifest: string, trees: readonly string[]): BaseTree {
  return {
    entries: () => entriesOf(manifest),
    read: (file) => inFirst(trees, file, readRegular),
    target: (link) => inFirst(trees, link, (full) => decodeBytes(readlinkSync(full, { encoding: 'buffer' }))),
  };
}

function* entriesOf(manifest: string): Generator<BaseEntry> {
  for (const [dir, section] of readSections(manifest, (one) => !/(^|\/)\.git(\/|$)/.test(one))) {
    const prefix = dir === '' ? '' : `${dir}/`;
    for (const { name, kind, size } of rowsOf(section)) {
      yield { path: (prefix + name) as RelPath, kind: KINDS[kind], size: kind === 'm' ? 0 : size };
    }
  }
}

/**
 * From the first tree that has something of that name. What stands in its place, or in that of a directory above it (a
 * whiteout, a file, a link), hides what lies below.
 */
function inFirst<T>(trees: readonly string[], entry: string, read: (full: string | Buffer) => T): T | undefined {
  for (const tree of trees) {
    try {
      if (!isBelowDirectories(tree, entry)) return undefined;
      return read(fsPath(`${tree}/${entry}`));
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? '';
      if (code === 'ENOENT') continue;
      if (['ENOTDIR', 'ELOOP', 'EINVAL', 'ENXIO', 'EACCES'].includes(code)) return undefined;
      throw error;
    }
  }
  return undefined;
}

/** Throws ENOENT where one of them is missing. */
function isBelowDirectories(tree: string, entry: string): boolean {
  const parents = entry.split('/').slice(0, -1);
  return parents.every((_, i) => lstatSync(fsPath(`${tree}/${parents.slice(0, i + 1).join('/')}`)).isDirectory());
}

function readRegular(file: string | Buffer): Buffer | undefined {
  const fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    return fstatSync(fd).isFile() ? readFileSync(fd) : undefined;
  } finally {
    closeSync(fd);
  }
}

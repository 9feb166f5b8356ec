import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, readlinkSync } from 'node:fs';
import { isInDotGit } from '../../core/git/names.ts';
import { decodeBytes, type RelPath } from '../../core/text/path.ts';
import { rowsOf } from '../scan/packed-directory.ts';
import { loadHeader, readSections } from '../scan/snapshot.ts';
import { fsPath } from '../scan/walk.ts';

/** One entry that the project had when the session began. */
export interface BaseEntry {
  readonly path: RelPath;
  readonly kind: 'file' | 'dir' | 'symlink';
  readonly size: number;
  /** Permission bits. */
  readonly mode: number;
}

/** The base generation of a session, on this machine: no session writes to it, so the host may open its files. */
export interface BaseTree {
  /** Parents before children, without entries of any `.git`. Reads the list of entries only, never the tree. */
  entries(): Iterable<BaseEntry>;
  /** Permission bits of the project itself; undefined where they were not recorded. */
  rootMode(): number | undefined;
  /** Content of a regular file; undefined when there is none at that path. */
  read(file: RelPath): Buffer | undefined;
  /** Target of a symbolic link; undefined when there is none at that path. */
  target(link: RelPath): string | undefined;
}

const KINDS = { f: 'file', m: 'file', g: 'file', d: 'dir', l: 'symlink' } as const;

/** The entries listed in `manifest`, each read from the first of `trees` that has it. */
export function openBaseTree(manifest: string, trees: readonly string[]): BaseTree {
  return {
    entries: () => entriesOf(manifest),
    rootMode: () => rootModeOf(loadHeader(manifest)),
    read: (file) => inFirst(trees, file, readRegular),
    target: (link) => inFirst(trees, link, (full) => decodeBytes(readlinkSync(full, { encoding: 'buffer' }))),
  };
}

function rootModeOf(header: unknown): number | undefined {
  const { root } = (header ?? {}) as { readonly root?: { readonly mode?: unknown } | null };
  return typeof root?.mode === 'number' ? root.mode : undefined;
}

function* entriesOf(manifest: string): Generator<BaseEntry> {
  for (const [dir, section] of readSections(manifest, (one) => !isInDotGit(one))) {
    const prefix = dir === '' ? '' : `${dir}/`;
    for (const { name, kind, size, mode } of rowsOf(section)) {
      yield { path: (prefix + name) as RelPath, kind: KINDS[kind], size: kind === 'm' ? 0 : size, mode };
    }
  }
}

/**
 * Reads from the first tree that has an entry of that name. An entry of another kind (a whiteout, a file, a link), at the
 * path itself or in place of a directory above it, hides the trees that follow.
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

/** Whether every parent is a directory. Throws ENOENT where one is missing. */
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

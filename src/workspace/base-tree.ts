import { closeSync, constants, fstatSync, openSync, readFileSync, readlinkSync } from 'node:fs';
import { decodeBytes, type RelPath } from '../types/path.ts';
import { rowsOf } from './section.ts';
import { readSections } from './snapshot.ts';
import { fsPath } from './walk.ts';

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

/** By the list in `manifest`, the entries below `root`. */
export function openBaseTree(manifest: string, root: string): BaseTree {
  return {
    entries: () => entriesOf(manifest),
    read: (file) => readRegular(fsPath(`${root}/${file}`)),
    target: (link) => readTarget(fsPath(`${root}/${link}`)),
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

function readRegular(file: string | Buffer): Buffer | undefined {
  let fd: number;
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (['ENOENT', 'ELOOP', 'ENOTDIR', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? ''))
      return undefined;
    throw error;
  }
  try {
    return fstatSync(fd).isFile() ? readFileSync(fd) : undefined;
  } finally {
    closeSync(fd);
  }
}

function readTarget(link: string | Buffer): string | undefined {
  try {
    return decodeBytes(readlinkSync(link, { encoding: 'buffer' }));
  } catch (error) {
    if (['ENOENT', 'EINVAL', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

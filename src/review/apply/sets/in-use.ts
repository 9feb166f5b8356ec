import { closeSync, lstatSync, readFileSync, readSync } from 'node:fs';
import { encodeBytes } from '../../../core/text/path.ts';
import type { FileSet } from '../../../core/types/change/file-set.ts';
import { fileSets, inUseStart, setName } from '../../choices/file-sets.ts';
import { openHost } from '../disk/host/host-entry.ts';
import { type HostWalker, NotAFolder } from '../disk/host/host-path.ts';
import { togetherReason } from '../disk/keep-together.ts';

const IS_OPEN = ' is open on this machine';

/** Whether a conflict's reason is that of {@link whyInUse}. */
export function isOpenReason(why: string): boolean {
  return why.includes(IS_OPEN);
}

/** Whether a reason only says that another file of the same change could not be applied. */
export function isTogetherReason(why: string): boolean {
  const [start = '', end = ''] = togetherReason('\0').split('\0');
  return why.startsWith(start) && why.includes(end);
}

export interface InUse {
  readonly why: string;
  /** The file whose content shows it, where that is all: it may also be left over from a program that was killed. */
  readonly shownBy?: string;
}

/**
 * Why the thing must not be replaced now: it is open on this machine, or was not closed. Undefined where nothing shows that.
 * Reads the first bytes of the members that show it, and on Linux the kernel's list of locks. A member that an apply wrote
 * (`isOwn`) shows nothing.
 */
export function whyInUse(set: FileSet, walker: HostWalker, isOwn: (path: string) => boolean): InUse | undefined {
  const locks: ReadonlySet<string> = set.isDatabase ? heldLocks() : new Set();
  const locked = locks.size === 0 ? undefined : set.members.find((path) => locks.has(inodeAt(walker, path) ?? ''));
  for (const path of set.members) {
    const start = inUseStart(set, path);
    if (start === undefined || isOwn(path)) continue;
    const head = firstBytes(walker, path, Math.max(1, start.length));
    if (head === undefined || head.length === 0 || !head.subarray(0, start.length).equals(start)) continue;
    const why = `the ${setName(set)}${IS_OPEN}, or was not closed: ${path} is not empty`;
    return locked === undefined ? { why, shownBy: path } : { why };
  }
  return locked === undefined
    ? undefined
    : { why: `the ${setName(set)}${IS_OPEN}: a program holds a lock on ${locked}` };
}

/** The sets of these paths with what is next to them on the host, and with `known` paths. Folders are listed once each. */
export function setsOnHost(
  paths: readonly string[],
  list: (folder: string) => Iterable<string>,
  known: readonly string[],
): FileSet[] {
  const folders = new Set<string>();
  for (const path of paths) folders.add(path.slice(0, Math.max(0, path.lastIndexOf('/'))));
  for (const { thing, isFolder } of fileSets(paths)) if (isFolder) folders.add(thing);
  const others: string[] = [...known];
  for (const folder of folders)
    for (const name of list(folder)) others.push(folder === '' ? name : `${folder}/${name}`);
  return fileSets(paths, others);
}

function firstBytes(walker: HostWalker, path: string, count: number): Buffer | undefined {
  try {
    const fd = openHost(walker, path);
    try {
      const bytes = Buffer.alloc(count);
      return bytes.subarray(0, readSync(fd, bytes, 0, count, 0));
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (error instanceof NotAFolder || ['ENOENT', 'ELOOP', 'EACCES', 'ENXIO', 'EISDIR'].includes(codeOf(error)))
      return undefined;
    throw error;
  }
}

/** The files that processes of this machine hold a lock on, as MAJOR:MINOR:INODE of /proc/locks; empty elsewhere. */
function heldLocks(): ReadonlySet<string> {
  try {
    const lines = readFileSync('/proc/locks', 'latin1').split('\n');
    return new Set(lines.flatMap((line) => /\b[0-9a-f]+:[0-9a-f]+:[0-9]+\b/.exec(line)?.[0] ?? []));
  } catch {
    return new Set();
  }
}

function inodeAt(walker: HostWalker, path: string): string | undefined {
  try {
    const at = path.lastIndexOf('/') + 1;
    const folder = walker.enter(path.slice(0, Math.max(0, at - 1)));
    const { dev, ino } = lstatSync(Buffer.concat([folder, encodeBytes(path.slice(at))]), { bigint: true });
    const major = ((dev >> 8n) & 0xfffn) | ((dev >> 32n) & 0xfffff000n);
    const minor = (dev & 0xffn) | ((dev >> 12n) & 0xffffff00n);
    const hex = (number: bigint): string => number.toString(16).padStart(2, '0');
    return `${hex(major)}:${hex(minor)}:${ino}`;
  } catch (error) {
    if (error instanceof NotAFolder || ['ENOENT', 'EACCES'].includes(codeOf(error))) return undefined;
    throw error;
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? '';
}

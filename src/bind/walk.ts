import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readlinkSync, readSync } from 'node:fs';
import { decodeBytes, encodeBytes } from '../text/path.ts';
import type { EntryKind } from '../types/entry.ts';

/** One thing in a project as the host sees it; what tells a change is all here. */
export interface Seen {
  readonly kind: EntryKind;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly size: number;
  readonly mtimeNs: string;
  /** Set by the kernel alone: what changes a file cannot put it back. */
  readonly ctimeNs: string;
  readonly ino: string;
}

export interface Walked {
  readonly entries: ReadonlyMap<string, Seen>;
  /** Directories that could not be listed, with the reason: nothing below them is known. */
  readonly unreadable: ReadonlyMap<string, string>;
}

const DEEPEST = 3500;

/**
 * Every entry below `root`, parents before children, by lstat alone: no link is followed, nothing is opened but
 * directories. `skip` leaves out an entry and what is below it. Preconditions: nobody hostile writes there now.
 */
export function walkProject(root: string, skip: (path: string) => boolean): Walked {
  const entries = new Map<string, Seen>();
  const unreadable = new Map<string, string>();
  const waiting: string[] = [''];
  for (let dir = waiting.pop(); dir !== undefined; dir = waiting.pop()) {
    for (const name of listDir(root, dir, unreadable)) {
      const path = dir === '' ? name : `${dir}/${name}`;
      if (skip(path)) continue;
      const seen = look(root, path);
      if (seen === undefined) continue;
      entries.set(path, seen);
      if (seen.kind === 'dir') waiting.push(path);
    }
  }
  return { entries, unreadable };
}

function listDir(root: string, dir: string, unreadable: Map<string, string>): string[] {
  const bytes = absolute(root, dir);
  try {
    if (bytes.length > DEEPEST) throw Object.assign(new Error('too deep'), { code: 'ENAMETOOLONG' });
    return readdirSync(bytes, { encoding: 'buffer' }).map(decodeBytes).sort();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') unreadable.set(dir, code ?? 'unknown');
    return [];
  }
}

/** What is at a path; undefined when nothing is. */
export function look(root: string, path: string): Seen | undefined {
  const stat = lstatSync(absolute(root, path), { bigint: true, throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  const kind: EntryKind = stat.isFile()
    ? 'file'
    : stat.isDirectory()
      ? 'dir'
      : stat.isSymbolicLink()
        ? 'symlink'
        : stat.isFIFO()
          ? 'fifo'
          : stat.isSocket()
            ? 'socket'
            : stat.isBlockDevice()
              ? 'block'
              : 'char';
  return {
    kind,
    mode: Number(stat.mode & 0o7777n),
    uid: Number(stat.uid),
    gid: Number(stat.gid),
    size: Number(stat.size),
    mtimeNs: String(stat.mtimeNs),
    ctimeNs: String(stat.ctimeNs),
    ino: String(stat.ino),
  };
}

/** A regular file's bytes, at most `limit`; undefined when it is larger, no regular file, a link, or cannot be read. */
export function readRegular(root: string, path: string, limit: number): Buffer | undefined {
  let fd: number;
  try {
    fd = openSync(absolute(root, path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return undefined;
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile() || stat.size > limit) return undefined;
    const bytes = Buffer.alloc(stat.size);
    let at = 0;
    while (at < bytes.length) {
      const read = readSync(fd, bytes, at, bytes.length - at, at);
      if (read === 0) break;
      at += read;
    }
    return bytes.subarray(0, at);
  } finally {
    closeSync(fd);
  }
}

/** A link's target, undefined when it is none. */
export function readLink(root: string, path: string): string | undefined {
  try {
    return decodeBytes(readlinkSync(absolute(root, path), { encoding: 'buffer' }));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return undefined;
  }
}

/** The bytes of an absolute path below a root. */
export function absolute(root: string, path: string): Buffer {
  return path === '' ? encodeBytes(root) : encodeBytes(`${root}/${path}`);
}

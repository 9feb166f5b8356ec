import { createHash } from 'node:crypto';
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
} from 'node:fs';
import { readOpen } from '../../../../core/store/read-open.ts';
import { decodeBytes, encodeBytes, nameOfPath, parentPath } from '../../../../core/text/path.ts';
import type { Entry } from '../../../../core/types/entry.ts';
import { type HostWalker, NotAFolder } from './host-path.ts';

/** One thing on the host as it is now; undefined stands for nothing there. */
export type HostEntry = Pick<Entry, 'kind' | 'mode' | 'size' | 'mtimeNs' | 'digest' | 'target'>;

/** What is at a path of the host, with what it takes to put it back. */
export interface HostState extends HostEntry {
  readonly uid: number;
  readonly gid: number;
  readonly nlink: number;
  /** Names this version of this inode: any write or replacement changes it. */
  readonly fingerprint: string;
}

/** Folder and name of a path. */
export function splitPath(path: string): { readonly folder: string; readonly name: Buffer } {
  return { folder: parentPath(path), name: encodeBytes(nameOfPath(path)) };
}

/**
 * What is at a path now, links not followed; undefined: nothing. Files are read whole for their digest.
 * Throws NotAFolder when a component on the way is a link or no folder, and what the system throws.
 */
export function readHost(walker: HostWalker, path: string): HostState | undefined {
  const stats = lstatHost(walker, path);
  if (stats === undefined) return undefined;
  const state = stateOf(stats);
  // Still in the folder that lstatHost entered.
  const place = Buffer.concat([walker.entered(), splitPath(path).name]);
  if (stats.isSymbolicLink()) {
    return { ...state, kind: 'symlink', target: decodeBytes(readlinkSync(place, { encoding: 'buffer' })) };
  }
  if (!stats.isFile()) return state;
  const fd = openSync(place, READ_FILE);
  try {
    return { ...stateOf(fstatSync(fd, { bigint: true })), digest: hashOpen(fd) };
  } finally {
    closeSync(fd);
  }
}

/** The fingerprint of what is at a path, without reading content; undefined: nothing. Throws as {@link readHost}. */
export function fingerprintHost(walker: HostWalker, path: string): string | undefined {
  const stats = lstatHost(walker, path);
  return stats === undefined ? undefined : fingerprintOf(stats);
}

/**
 * A text that is another one when what is at a path was written again; undefined: nothing. Unlike a fingerprint it is the same
 * after a boot, and for a copy that keeps times. Content is not read. Throws as {@link readHost}.
 */
export function versionHost(walker: HostWalker, path: string): string | undefined {
  const stats = lstatHost(walker, path);
  return stats === undefined ? undefined : `${kindOf(stats)}:${stats.size}:${stats.mtimeNs}`;
}

/** A regular file of the host, open for reading. Preconditions: the caller closes it. Throws ELOOP for a link. */
export function openHost(walker: HostWalker, path: string): number {
  const { folder, name } = splitPath(path);
  return openSync(Buffer.concat([walker.enter(folder), name]), READ_FILE);
}

const READ_FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Every path below a folder of the host, links not followed. Throws as {@link readHost}. */
export function namesBelow(walker: HostWalker, folder: string): string[] {
  const found: string[] = [];
  for (const entry of readdirSync(walker.enter(folder), { withFileTypes: true, encoding: 'buffer' })) {
    const path = `${folder}/${decodeBytes(entry.name)}`;
    found.push(path);
    if (entry.isDirectory()) for (const name of namesBelow(walker, path)) found.push(name);
  }
  return found;
}

function hashOpen(fd: number): string {
  const hash = createHash('sha256');
  for (const chunk of readOpen(fd)) hash.update(chunk);
  return hash.digest('hex');
}

function lstatHost(walker: HostWalker, path: string): BigIntStats | undefined {
  const { folder, name } = splitPath(path);
  try {
    return lstatSync(Buffer.concat([walker.enter(folder), name]), { bigint: true });
  } catch (error) {
    if (error instanceof NotAFolder && error.found === 'absent') return undefined;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function stateOf(stats: BigIntStats): HostState {
  return {
    kind: kindOf(stats),
    mode: Number(stats.mode & 0o7777n),
    size: stats.isFile() ? Number(stats.size) : 0,
    mtimeNs: String(stats.mtimeNs),
    uid: Number(stats.uid),
    gid: Number(stats.gid),
    nlink: Number(stats.nlink),
    fingerprint: fingerprintOf(stats),
  };
}

function kindOf(stats: BigIntStats): HostState['kind'] {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'dir';
  if (stats.isSymbolicLink()) return 'symlink';
  if (stats.isFIFO()) return 'fifo';
  if (stats.isSocket()) return 'socket';
  return stats.isCharacterDevice() ? 'char' : 'block';
}

/** A folder's own times change with every entry: of a folder only device, inode and mode count. */
function fingerprintOf(stats: BigIntStats): string {
  const inode = `${stats.dev}:${stats.ino}:${stats.mode}`;
  return stats.isDirectory() ? inode : `${inode}:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`;
}

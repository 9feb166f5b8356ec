import { lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { regularFileBytes } from '../../core/host/regular-file.ts';
import { decodeBytes, encodeBytes } from '../../core/text/path.ts';
import type { EntryKind } from '../../core/types/entry.ts';

/** An entry of a project as lstat shows it: all that a change can be seen by. */
export interface HostEntry {
  readonly kind: EntryKind;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly size: number;
  readonly mtimeNs: string;
  /** Set by the kernel: a program that changes a file cannot restore it. */
  readonly ctimeNs: string;
  readonly ino: string;
}

export interface ProjectScan {
  /** By path relative to the root. */
  readonly entries: ReadonlyMap<string, HostEntry>;
  /** Directories that could not be listed, with the reason: nothing below them is known. */
  readonly unreadable: ReadonlyMap<string, string>;
}

const MAX_PATH_BYTES = 3500;

/**
 * Every entry below `root`, parents before children, by lstat alone: no link is followed, nothing is opened but
 * directories. `skip` leaves out an entry and what is below it. Precondition: no agent writes there now.
 */
export function scanProject(root: string, skip: (path: string) => boolean): ProjectScan {
  const steps = scanSteps(root, skip);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** As {@link scanProject}, with turns of the event loop for what else a start waits for. */
export async function scanProjectInTurns(root: string, skip: (path: string) => boolean): Promise<ProjectScan> {
  const steps = scanSteps(root, skip);
  for (let turn = Date.now(); ; ) {
    const { done, value } = steps.next();
    if (done === true) return value;
    if (Date.now() - turn < TURN_MS) continue;
    await nextTurn();
    turn = Date.now();
  }
}

/** How long the event loop waits for a scan. */
export const TURN_MS = 15;

/** One directory for each step. */
function* scanSteps(root: string, skip: (path: string) => boolean): Generator<undefined, ProjectScan, undefined> {
  const entries = new Map<string, HostEntry>();
  const unreadable = new Map<string, string>();
  const directories: string[] = [''];
  for (let dir = directories.pop(); dir !== undefined; dir = directories.pop()) {
    for (const name of listDir(root, dir, unreadable)) {
      const path = dir === '' ? name : `${dir}/${name}`;
      if (skip(path)) continue;
      const seen = statEntry(root, path);
      if (seen === undefined) continue;
      entries.set(path, seen);
      if (seen.kind === 'dir') directories.push(path);
    }
    yield;
  }
  return { entries, unreadable };
}

function listDir(root: string, dir: string, unreadable: Map<string, string>): string[] {
  const bytes = absolutePath(root, dir);
  try {
    if (bytes.length > MAX_PATH_BYTES) throw Object.assign(new Error('too deep'), { code: 'ENAMETOOLONG' });
    return readdirSync(bytes, { encoding: 'buffer' }).map(decodeBytes).sort();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') unreadable.set(dir, code ?? 'unknown');
    return [];
  }
}

/** The entry at a path; undefined when there is none. */
export function statEntry(root: string, path: string): HostEntry | undefined {
  const stat = lstatSync(absolutePath(root, path), { bigint: true, throwIfNoEntry: false });
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

/** As {@link regularFileBytes}, of a path of the project. */
export function readRegularFile(root: string, path: string, limit: number): Buffer | undefined {
  return regularFileBytes(absolutePath(root, path), limit);
}

/** The target of a link; undefined when the path is not a link. */
export function readLink(root: string, path: string): string | undefined {
  try {
    return decodeBytes(readlinkSync(absolutePath(root, path), { encoding: 'buffer' }));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return undefined;
  }
}

/** An absolute path below `root`, as the bytes that it has on the disk. */
export function absolutePath(root: string, path: string): Buffer {
  return path === '' ? encodeBytes(root) : encodeBytes(`${root}/${path}`);
}

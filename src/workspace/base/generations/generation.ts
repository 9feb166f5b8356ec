import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  linkSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { maxPathBytes } from '../../../core/host/files/path-limit.ts';
import { settableTimeOfMs } from '../../../core/store/file-time.ts';
import { makePrivateDir, writeFileAtomic } from '../../../core/store/record.ts';
import { type RowKind, rowsOf } from '../../scan/packed-directory.ts';
import type { Snapshot } from '../../scan/snapshot.ts';
import { fsPath } from '../../scan/walk.ts';
import { moveToTrash } from './trash.ts';

/** The directory of a generation, in the directory of its base. */
export function genDir(dir: string, number: number): string {
  return path.join(dir, 'gen', String(number));
}

/** For the numbers of later generations, the directories of sessions, and names of files that are being written. */
const RESERVED_PATH_BYTES = 128;

/** How many bytes an entry's path may have in a base, and in a project: a longer one could not be copied, nor removed. */
export function maxEntryBytes(dir: string, project = ''): number {
  return maxPathBytes([path.join(genDir(dir, 1), 'tree'), project]) - RESERVED_PATH_BYTES;
}

function numbers(dir: string): number[] {
  return readdirSync(path.join(dir, 'gen')).map(Number).filter(Number.isInteger);
}

/** 0 without any. */
export function highestNumber(dir: string): number {
  return Math.max(0, ...numbers(dir));
}

/** The number of the newest generation that was finished. */
export function newestGeneration(dir: string): number | undefined {
  const whole = numbers(dir).filter((number) => existsSync(path.join(genDir(dir, number), 'manifest')));
  return whole.length === 0 ? undefined : Math.max(...whole);
}

/** Moves all other generations to the trash. */
export function sweepGenerations(dir: string, keep: ReadonlySet<number>): void {
  for (const number of numbers(dir)) if (!keep.has(number)) moveToTrash(dir, number);
}

/**
 * A new generation next to an old one that stays as it is: directories and symbolic links are created again, files are
 * the same inodes (a refresh replaces files and never writes to them). Without an old one: empty.
 */
export async function cloneGeneration(from: string, to: string, snapshot: Snapshot | undefined): Promise<void> {
  makePrivateDir(to);
  mkdirSync(path.join(to, 'tree'), { mode: 0o700 });
  if (snapshot !== undefined) {
    const directories = [...snapshot.keys()];
    let turn = Date.now();
    for (const dir of directories) {
      const [old, now] = [treePath(from, dir), treePath(to, dir)];
      if (dir !== '') mkdirSync(fsPath(now), { mode: 0o700 });
      for (const { name, kind } of rowsOf(snapshot.get(dir))) {
        if (kind !== 'd') tryClone(kind, `${old}/${name}`, `${now}/${name}`);
      }
      if (Date.now() - turn > 40) {
        await nextTurn();
        turn = Date.now();
      }
    }
    for (const dir of directories.reverse()) copyAttributes(treePath(from, dir), treePath(to, dir));
  }
  writeNonce(to);
}

function treePath(gen: string, dir: string): string {
  return dir === '' ? `${gen}/tree` : `${gen}/tree/${dir}`;
}

/** An entry that was left out of the old generation as unreadable has a row there, but no file. */
function tryClone(kind: RowKind, from: string, to: string): void {
  try {
    if (kind === 'l') copySymlink(fsPath(from), fsPath(to));
    else linkSync(fsPath(from), fsPath(to));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** A symbolic link is never hard-linked: link(2) of macOS follows it, and makes another name of its target. */
function copySymlink(from: string | Buffer, to: string | Buffer): void {
  const stat = lstatSync(from);
  symlinkSync(readlinkSync(from, { encoding: 'buffer' }), to);
  if (process.getuid?.() === 0) lchownSync(to, stat.uid, stat.gid);
  lutimesSync(to, settableTimeOfMs(stat.mtimeMs), settableTimeOfMs(stat.mtimeMs));
}

function copyAttributes(from: string, to: string): void {
  const stat = lstatSync(fsPath(from));
  if (process.getuid?.() === 0) chownSync(fsPath(to), stat.uid, stat.gid);
  chmodSync(fsPath(to), stat.mode & 0o7777);
  utimesSync(fsPath(to), settableTimeOfMs(stat.mtimeMs), settableTimeOfMs(stat.mtimeMs));
}

/** Writes a new nonce next to a tree: a container that mounts the directory proves by it that it is the right one. */
export function writeNonce(dir: string): string {
  const nonce = randomBytes(16).toString('hex');
  writeFileAtomic(path.join(dir, 'nonce'), nonce, { durable: false });
  return nonce;
}

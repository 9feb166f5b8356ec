import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  futimesSync,
  lchownSync,
  lutimesSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { settableTime } from '../store/file-time.ts';
import { dataRuns } from '../store/holes.ts';
import { encodeBytes } from '../types/path.ts';
import { copyAttributes } from './attributes.ts';
import { splitPath } from './host-entry.ts';
import type { HostWalker } from './host-path.ts';
import type { Step, Target } from './steps.ts';

export interface StepTools {
  readonly walker: HostWalker;
  /** Name of our file beside the target. */
  readonly temp: string;
  /** New content of a file, when it changes. */
  readonly content: Iterable<Uint8Array> | undefined;
  /** What was in the way of another kind is gone already. */
  readonly cleared: boolean;
}

/**
 * Brings one path from `pre` to `post`: each file is written beside its target, made durable and renamed over it.
 * Synchronous throughout. Gives the mode that the disk gave instead, where it keeps no modes (FAT).
 * Throws what the system throws; the path is then as before, and nothing of ours is left.
 */
export function performStep(step: Step, tools: StepTools): number | undefined {
  const { folder, name } = splitPath(step.path);
  const prefix = tools.walker.enter(folder);
  const place = { target: Buffer.concat([prefix, name]), temp: Buffer.concat([prefix, encodeBytes(tools.temp)]) };
  const { post } = step;
  let mode = post?.mode;
  if (post === undefined) {
    if (step.pre?.kind === 'dir') rmdirSync(place.target);
    else unlinkSync(place.target);
  } else if (post.kind === 'dir') mode = makeFolder(step, post, place.target, tools.cleared);
  else {
    if (step.pre?.kind === 'dir' && !tools.cleared) rmdirSync(place.target);
    if (post.kind === 'symlink') makeLink(post, place);
    else if (tools.content === undefined) mode = setMode(place.target, post);
    else if (step.inPlace && step.pre?.kind === 'file') mode = writeInPlace(post, place.target, tools.content);
    else mode = writeBeside(step, post, place, tools.content);
  }
  tools.walker.syncFolder();
  return mode === post?.mode ? undefined : mode;
}

function modeOf(fd: number): number {
  return fstatSync(fd).mode & 0o7777;
}

interface Place {
  readonly target: Buffer;
  readonly temp: Buffer;
}

function makeFolder(step: Step, post: Target, target: Buffer, cleared: boolean): number {
  if (step.pre?.kind === 'dir') return chmodFolder(target, post);
  if (step.pre !== undefined && !cleared) unlinkSync(target);
  mkdirSync(target, { mode: post.mode & 0o777 });
  return chmodFolder(target, post);
}

function chmodFolder(target: Buffer, post: Target): number {
  const fd = openSync(target, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    fchmodSync(fd, post.mode);
    if (post.uid !== undefined && post.gid !== undefined) giveOwner(fd, post.uid, post.gid, true);
    fsyncSync(fd);
    return modeOf(fd);
  } finally {
    closeSync(fd);
  }
}

function makeLink(post: Target, { target, temp }: Place): void {
  symlinkSync(encodeBytes(post.target ?? ''), temp);
  try {
    if (post.uid !== undefined && post.gid !== undefined) lchownSync(temp, post.uid, post.gid);
    if (post.mtimeNs !== undefined) lutimesSync(temp, settableTime(post.mtimeNs), settableTime(post.mtimeNs));
    renameSync(temp, target);
  } catch (error) {
    unlinkSync(temp);
    throw error;
  }
}

/** Without following, and on a regular file only. */
function setMode(target: Buffer, post: Target): number {
  const fd = openForMode(target);
  try {
    fchmodSync(fd, post.mode);
    if (post.mtimeNs !== undefined) futimesSync(fd, settableTime(post.mtimeNs), settableTime(post.mtimeNs));
    fsyncSync(fd);
    return modeOf(fd);
  } finally {
    closeSync(fd);
  }
}

/** A file that its owner may not read can still get another mode, if it may be written; otherwise by its name. */
function openForMode(target: Buffer): number {
  const flags = constants.O_NOFOLLOW | constants.O_NONBLOCK;
  try {
    return openSync(target, constants.O_RDONLY | flags);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
    return openSync(target, constants.O_WRONLY | flags);
  }
}

function writeBeside(step: Step, post: Target, { target, temp }: Place, content: Iterable<Uint8Array>): number {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const fd = openSync(temp, flags, 0o600);
  try {
    writeAll(fd, content, dataRuns);
    const owner = step.pre?.kind === 'file' ? step.pre : post;
    if (owner.uid !== undefined && owner.gid !== undefined) giveOwner(fd, owner.uid, owner.gid, step.pre === undefined);
    if (step.attributes) copyAttributes(target, fd);
    fchmodSync(fd, post.mode);
    if (post.mtimeNs !== undefined) futimesSync(fd, settableTime(post.mtimeNs), settableTime(post.mtimeNs));
    fsyncSync(fd);
    const mode = modeOf(fd);
    renameSync(temp, target);
    return mode;
  } catch (error) {
    unlinkSync(temp);
    throw error;
  } finally {
    closeSync(fd);
  }
}

function writeInPlace(post: Target, target: Buffer, content: Iterable<Uint8Array>): number {
  // To the end, before the first byte is lost: what is damaged says so there.
  for (const _ of content);
  const fd = openSync(target, constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    ftruncateSync(fd, writeAll(fd, content, wholePiece));
    if (modeOf(fd) !== post.mode) fchmodSync(fd, post.mode);
    if (post.mtimeNs !== undefined) futimesSync(fd, settableTime(post.mtimeNs), settableTime(post.mtimeNs));
    fsyncSync(fd);
    return modeOf(fd);
  } finally {
    closeSync(fd);
  }
}

/** Writes the runs of each piece, and gives the number of bytes. */
function writeAll(fd: number, content: Iterable<Uint8Array>, runsOf: typeof dataRuns): number {
  let [size, end] = [0, 0];
  for (const piece of content) {
    for (const [from, to] of runsOf(piece)) {
      for (let at = from; at < to; ) at += writeSync(fd, piece, at, to - at, size + at);
      end = size + to;
    }
    size += piece.length;
  }
  if (end < size) ftruncateSync(fd, size);
  return size;
}

/** Where something else may stand in the file, zeros are written too. */
function* wholePiece(piece: Uint8Array): ReturnType<typeof dataRuns> {
  yield [0, piece.length];
}

/**
 * Only where it differs: a person who is not root may give nothing away. `elseOurs`: what is brought back is ours then,
 * rather than not there.
 */
function giveOwner(fd: number, uid: number, gid: number, elseOurs: boolean): void {
  const now = fstatSync(fd);
  if (now.uid === uid && now.gid === gid) return;
  try {
    fchownSync(fd, uid, gid);
  } catch (error) {
    if (!elseOurs || (error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
  }
}

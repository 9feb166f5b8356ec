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
import { settableTime } from '../../../../core/store/file-time.ts';
import { dataRuns } from '../../../../core/store/holes.ts';
import { encodeBytes } from '../../../../core/text/path.ts';
import { copyAttributes } from '../attributes.ts';
import { splitPath } from '../host/host-entry.ts';
import type { HostWalker } from '../host/host-path.ts';
import type { Step, Target } from './steps.ts';

export interface StepTools {
  readonly walker: HostWalker;
  /** Name of the temporary file next to the target. */
  readonly temp: string;
  /** New content of a file, when it changes. */
  readonly content: Iterable<Uint8Array> | undefined;
  /** The entry of another kind at the target is already removed. */
  readonly cleared: boolean;
}

/** Collects the files and folders that are forced to the disk after a step, together with those of other steps. */
export interface Unflushed {
  /** Closes the descriptor later. */
  addFile(fd: number): void;
  /** The folder that was entered last. */
  addFolder(): void;
}

/** New content of a step in the temporary file next to the target, open and not yet forced to the disk. */
export interface Staged {
  readonly fd: number;
  /** The mode that the file has. */
  readonly mode: number;
}

/**
 * Brings one path from `pre` to `post` and forces it to the disk: stages, flushes, commits. Synchronous throughout.
 * Returns and throws as {@link commitStep}.
 */
export function performStep(step: Step, tools: StepTools): number | undefined {
  const open: number[] = [];
  const unflushed = {
    addFile: (fd: number) => void open.push(fd),
    addFolder: () => void open.push(tools.walker.openFolder()),
  };
  try {
    const staged = isStaged(step, tools) ? stageStep(step, tools) : undefined;
    const mode = withoutLeftover(step, tools, staged, () => {
      if (staged !== undefined) {
        open.push(staged.fd);
        fsyncSync(staged.fd);
      }
      return commitStep(step, { ...tools, unflushed, ...(staged && { staged }) });
    });
    for (const fd of open) if (fd !== staged?.fd) fsyncSync(fd);
    return mode;
  } finally {
    for (const fd of open) closeSync(fd);
  }
}

function withoutLeftover<T>(step: Step, tools: StepTools, staged: Staged | undefined, commit: () => T): T {
  try {
    return commit();
  } catch (error) {
    if (staged !== undefined) removeQuietly(placeOf(step, tools).temp);
    throw error;
  }
}

/** Whether a step's content is first written next to its target. */
export function isStaged({ pre, post, inPlace }: Step, { content }: Pick<StepTools, 'content'>): boolean {
  return post?.kind === 'file' && content !== undefined && !(inPlace === true && pre?.kind === 'file');
}

/**
 * Writes a step's content next to its target. Throws what the system throws. The caller forces it to the disk before
 * {@link commitStep}, and closes it.
 */
export function stageStep(step: Step, tools: StepTools): Staged {
  return stageContent(step, step.post as Target, placeOf(step, tools), tools.content ?? []);
}

/**
 * Brings one path from `pre` to `post`; staged content is renamed over it. Returns the mode that the file has instead
 * of the planned one where the file system keeps no modes (FAT). Throws what the system throws; the path is then as
 * before, and the caller removes what was staged.
 */
export function commitStep(
  step: Step,
  tools: StepTools & { readonly staged?: Staged; readonly unflushed: Unflushed },
): number | undefined {
  const { staged, unflushed, cleared, content } = tools;
  const place = placeOf(step, tools);
  // Before anything is changed: where no more descriptors can be opened, the path stays as it was.
  unflushed.addFolder();
  const { post } = step;
  let mode = post?.mode;
  if (post === undefined) {
    if (step.pre?.kind === 'dir') rmdirSync(place.target);
    else unlinkSync(place.target);
  } else if (post.kind === 'dir') mode = makeFolder(step, post, place.target, { cleared, unflushed });
  else {
    if (step.pre?.kind === 'dir' && !cleared) rmdirSync(place.target);
    if (post.kind === 'symlink') makeLink(post, place);
    else if (staged !== undefined) {
      renameSync(place.temp, place.target);
      mode = staged.mode;
    } else if (content === undefined) mode = setMode(place.target, post, unflushed);
    else mode = writeInPlace(post, place.target, content, unflushed);
  }
  return mode === post?.mode ? undefined : mode;
}

function placeOf(step: Step, { walker, temp }: Pick<StepTools, 'walker' | 'temp'>): Place {
  const { folder, name } = splitPath(step.path);
  const prefix = walker.enter(folder);
  return { target: Buffer.concat([prefix, name]), temp: Buffer.concat([prefix, encodeBytes(temp)]) };
}

function modeOf(fd: number): number {
  return fstatSync(fd).mode & 0o7777;
}

interface Place {
  readonly target: Buffer;
  readonly temp: Buffer;
}

interface FolderTools {
  readonly cleared: boolean;
  readonly unflushed: Unflushed;
}

function makeFolder(step: Step, post: Target, target: Buffer, { cleared, unflushed }: FolderTools): number {
  if (step.pre?.kind === 'dir') return chmodFolder(target, post, unflushed);
  if (step.pre !== undefined && !cleared) unlinkSync(target);
  mkdirSync(target, { mode: post.mode & 0o777 });
  try {
    return chmodFolder(target, post, unflushed);
  } catch (error) {
    rmdirSync(target);
    throw error;
  }
}

function chmodFolder(target: Buffer, post: Target, unflushed: Unflushed): number {
  const fd = openSync(target, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  return finished(fd, unflushed, () => {
    // A folder that inherited the setgid bit loses it by a chmod of a user who is not in its group.
    if (modeOf(fd) !== post.mode) fchmodSync(fd, post.mode);
    if (post.uid !== undefined && post.gid !== undefined) giveOwner(fd, post.uid, post.gid, true);
  });
}

/** Hands a descriptor over to be flushed once `change` worked. Returns the mode that the file has then. */
function finished(fd: number, unflushed: Unflushed, change: () => void): number {
  let mode: number;
  try {
    change();
    mode = modeOf(fd);
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  unflushed.addFile(fd);
  return mode;
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

/** Follows no link. */
function setMode(target: Buffer, post: Target, unflushed: Unflushed): number {
  const fd = openForMode(target);
  return finished(fd, unflushed, () => {
    fchmodSync(fd, post.mode);
    setTime(fd, post);
  });
}

/** The time, where a step has one. Only its owner may give a file another time than now: the time is then now. */
function setTime(fd: number, { mtimeNs }: Target): void {
  if (mtimeNs === undefined) return;
  try {
    futimesSync(fd, settableTime(mtimeNs), settableTime(mtimeNs));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
  }
}

/** Opened for writing where its owner may not read the file. */
function openForMode(target: Buffer): number {
  const flags = constants.O_NOFOLLOW | constants.O_NONBLOCK;
  try {
    return openSync(target, constants.O_RDONLY | flags);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
    return openSync(target, constants.O_WRONLY | flags);
  }
}

function stageContent(step: Step, post: Target, { target, temp }: Place, content: Iterable<Uint8Array>): Staged {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const fd = openSync(temp, flags, 0o600);
  try {
    writeAll(fd, content, dataRuns);
    const owner = step.pre?.kind === 'file' ? step.pre : post;
    if (owner.uid !== undefined && owner.gid !== undefined) giveOwner(fd, owner.uid, owner.gid, step.pre === undefined);
    if (step.attributes) copyAttributes(target, fd);
    fchmodSync(fd, post.mode);
    setTime(fd, post);
    return { fd, mode: modeOf(fd) };
  } catch (error) {
    closeSync(fd);
    removeQuietly(temp);
    throw error;
  }
}

/** Recovery finds a file that remains by its name. */
function removeQuietly(temp: Buffer): void {
  try {
    unlinkSync(temp);
  } catch {
    // The caller throws the error that led here.
  }
}

function writeInPlace(post: Target, target: Buffer, content: Iterable<Uint8Array>, unflushed: Unflushed): number {
  // All of it is read before the first byte is overwritten: damaged content is detected at its end.
  for (const _ of content);
  const fd = openSync(target, constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  return finished(fd, unflushed, () => {
    ftruncateSync(fd, writeAll(fd, content, wholePiece));
    if (modeOf(fd) !== post.mode) fchmodSync(fd, post.mode);
    setTime(fd, post);
  });
}

/** Writes the runs of each piece. Returns the number of bytes. */
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

/** All of a piece: in a file that has other content, zeros must be written too. */
function* wholePiece(piece: Uint8Array): ReturnType<typeof dataRuns> {
  yield [0, piece.length];
}

/**
 * Sets the owner where it differs. A user other than root may not give files away: with `mayKeepOwn` the entry then
 * stays the user's own, which is better than not to restore it.
 */
function giveOwner(fd: number, uid: number, gid: number, mayKeepOwn: boolean): void {
  const now = fstatSync(fd);
  if (now.uid === uid && now.gid === gid) return;
  try {
    fchownSync(fd, uid, gid);
  } catch (error) {
    if (!mayKeepOwn || (error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
  }
}

import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { RunClaudeError } from '../errors.ts';
import { remedyOf } from './remedy.ts';

/**
 * Makes a directory with mode 0700, with its parents. Step by step: Node's own recursive form never ends below a
 * directory that accepts none, such as /proc (Node 20.20).
 *
 * @throws {RunClaudeError} RECORD_UNWRITABLE.
 */
export function makePrivateDir(dir: string): void {
  if (makeOne(dir)) return;
  makePrivateDir(path.dirname(dir));
  if (!makeOne(dir)) throw unwritable(dir, new Error('nothing can be made there'));
}

/** False where its parent does not exist. */
function makeOne(dir: string): boolean {
  try {
    mkdirSync(dir, { mode: 0o700 });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return false;
    const there = code === 'EEXIST' && statSync(dir, { throwIfNoEntry: false })?.isDirectory() === true;
    if (!there) throw unwritable(dir, cause as Error);
  }
  return true;
}

function unwritable(place: string, cause: Error): RunClaudeError {
  return new RunClaudeError('RECORD_UNWRITABLE', `cannot write ${place}: ${cause.message}`, {
    cause,
    hint: remedyOf(cause) ?? 'HOME and the XDG variables must name directories that are yours.',
  });
}

/**
 * Replaces `file` by the value as JSON, 0600, in one step: a reader, and whoever comes after a power cut, sees the old
 * record or the new one. Throws RunClaudeError RECORD_UNWRITABLE.
 */
export function writeJsonAtomic(file: string, value: unknown): void {
  writeFileAtomic(file, `${JSON.stringify(value, undefined, 1)}\n`);
}

/**
 * As {@link writeJsonAtomic}, for any content, in pieces where it is large. `durable: false` is for what can be made
 * anew: it survives a kill, but not a power cut.
 */
export function writeFileAtomic(
  file: string,
  content: string | Uint8Array | Iterable<Uint8Array>,
  options = { durable: true },
): void {
  const dir = path.dirname(file);
  const beside = path.join(dir, `.${path.basename(file)}.${randomBytes(6).toString('hex')}`);
  makePrivateDir(dir);
  try {
    const fd = openSync(beside, 'wx', 0o600);
    try {
      if (typeof content === 'string') writeAll(fd, Buffer.from(content));
      else if (content instanceof Uint8Array) writeAll(fd, content);
      else for (const bytes of joinPieces(content)) writeAll(fd, bytes);
      if (options.durable) fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(beside, file);
    if (options.durable) syncDir(dir);
  } catch (cause) {
    rmSync(beside, { force: true });
    throw unwritable(file, cause as Error);
  }
}

/** Writes all bytes at the file's position: one call may write fewer. */
export function writeAll(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at, bytes.length - at);
}

/** Joins many small pieces to few large ones. */
function* joinPieces(pieces: Iterable<Uint8Array>): Generator<Uint8Array> {
  let [held, size]: [Uint8Array[], number] = [[], 0];
  for (const piece of pieces) {
    held.push(piece);
    size += piece.length;
    if (size < MIN_WRITE_BYTES) continue;
    yield Buffer.concat(held);
    [held, size] = [[], 0];
  }
  yield Buffer.concat(held);
}

const MIN_WRITE_BYTES = 1 << 18;

/** Makes the names in a directory durable. */
export function syncDir(dir: string): void {
  const fd = openSync(dir, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * The content of a file as parsed JSON, undefined when there is no such file. `hint`: what the user can do when it is
 * not JSON.
 *
 * @throws {RunClaudeError} RECORD_UNREADABLE when the system refuses to read it, RECORD_DAMAGED when it is not JSON.
 */
export function readJson(file: string, hint = 'Move the file away; what it described has to be done again.'): unknown {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new RunClaudeError('RECORD_UNREADABLE', `cannot read ${file}: ${(cause as Error).message}`, { cause, hint });
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new RunClaudeError('RECORD_DAMAGED', `${file} is not the JSON that was written there`, { cause, hint });
  }
}

/**
 * As {@link readJson}, for what can be made again: undefined also for what another release or a crash left.
 *
 * @throws {RunClaudeError} RECORD_UNREADABLE
 */
export function readWholeJson(file: string): unknown {
  try {
    return readJson(file);
  } catch (error) {
    if (error instanceof RunClaudeError && error.code === 'RECORD_DAMAGED') return undefined;
    throw error;
  }
}

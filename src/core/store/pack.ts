import { createHash, randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { RunClaudeError } from '../errors.ts';
import type { Digest } from '../types/entry.ts';
import { makePrivateDir, syncDir, writeAll } from './record.ts';
import { remedyOf } from './remedy.ts';

/** One content in a pack: where its bytes are, and what they hash to. */
export interface Piece {
  readonly digest: Digest;
  readonly offset: number;
  readonly length: number;
}

/** Writes many contents to one file, which is on the disk as a whole after one flush. */
export interface PackWriter {
  /** Adds bytes once, however often they are given. Throws RunClaudeError STORE_UNWRITABLE. */
  add(bytes: Uint8Array): Piece;
  /** Flushes the file and gives it its name. Throws RunClaudeError STORE_UNWRITABLE. */
  finish(): void;
  /** Removes what was written so far. */
  abandon(): void;
}

/** Begins a pack that replaces `file` when it is finished. Throws RunClaudeError STORE_UNWRITABLE. */
export function writePack(file: string): PackWriter {
  const beside = path.join(path.dirname(file), `.${path.basename(file)}.${randomBytes(6).toString('hex')}`);
  const pieces = new Map<Digest, Piece>();
  let offset = 0;
  const attempt = <T>(step: () => T): T => {
    try {
      return step();
    } catch (cause) {
      rmSync(beside, { force: true });
      throw unwritable(file, cause as Error);
    }
  };
  const fd = attempt(() => {
    makePrivateDir(path.dirname(file));
    return openSync(beside, 'wx', 0o600);
  });
  return {
    add(bytes) {
      const digest = createHash('sha256').update(bytes).digest('hex');
      const known = pieces.get(digest);
      if (known !== undefined) return known;
      attempt(() => writeAll(fd, bytes));
      const piece = { digest, offset, length: bytes.length };
      pieces.set(digest, piece);
      offset += bytes.length;
      return piece;
    },
    finish() {
      attempt(() => {
        fsyncSync(fd);
        closeSync(fd);
        renameSync(beside, file);
        syncDir(path.dirname(file));
      });
    },
    abandon() {
      closeSync(fd);
      rmSync(beside, { force: true });
    },
  };
}

/**
 * The bytes of a piece, hashed again.
 *
 * @throws {RunClaudeError} CONTENT_MISSING where the pack does not have them, CONTENT_DAMAGED where they are others.
 */
export function readPiece(file: string, { digest, offset, length }: Piece): Buffer {
  const bytes = Buffer.alloc(length);
  let fd: number;
  try {
    fd = openSync(file, 'r');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
    throw new RunClaudeError('CONTENT_MISSING', `${file} does not exist`, { cause });
  }
  try {
    for (let at = 0; at < length; ) {
      const read = readSync(fd, bytes, at, length - at, offset + at);
      if (read === 0) throw new RunClaudeError('CONTENT_MISSING', `${file} ends before content ${digest}`);
      at += read;
    }
  } finally {
    closeSync(fd);
  }
  if (createHash('sha256').update(bytes).digest('hex') === digest) return bytes;
  throw new RunClaudeError('CONTENT_DAMAGED', `${file} was changed: ${digest} is not what was kept`, {
    hint: 'Nothing of it was used. Check the disk, then discard the session.',
  });
}

function unwritable(file: string, cause: Error): RunClaudeError {
  return new RunClaudeError('STORE_UNWRITABLE', `cannot write ${file}: ${cause.message}`, {
    cause,
    hint: remedyOf(cause) ?? '`run-claude doctor` checks that disk.',
  });
}

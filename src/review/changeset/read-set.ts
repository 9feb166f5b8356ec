import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { RunClaudeError, usageError } from '../../core/errors.ts';
import { jsonIn } from '../../core/text/json-in.ts';
import {
  contentsOf,
  MAX_CONTENT_BYTES,
  MAX_MANIFEST_BYTES,
  parseManifest,
  type SetContent,
  type SetManifest,
} from './format.ts';
import { BLOCK_BYTES, paddingOf, parseTarHeader, TAR_END } from './tar.ts';
import { CONTENT_PREFIX, MANIFEST_NAME } from './write-set.ts';

const PIECE_BYTES = 1 << 20;
const NOT_A_SET = 'it is not a change set of run-claude';

/** A change set that was read once as a whole: every byte of it is accounted for, and each content has its digest. */
export interface ChangeSet extends Disposable {
  readonly manifest: SetManifest;
  /** Contents in the order of the file. Each is hashed again while it is read. */
  contents(): Generator<{ readonly content: SetContent; readonly pieces: Iterable<Uint8Array> }>;
}

/**
 * Opens a change set and checks all of it; writes nothing. Memory: the list of changes and one piece of content.
 *
 * @throws {RunClaudeError} CHANGE_SET_REFUSED with the reason.
 */
export function openChangeSet(file: string): ChangeSet {
  const fd = openFile(file);
  const reader = new SetReader(fd, file);
  try {
    const manifest = reader.manifest();
    const start = reader.at;
    const contents = contentsOf(manifest.changes);
    for (const content of contents) for (const _ of reader.content(content));
    reader.end();
    return {
      manifest,
      *contents() {
        reader.at = start;
        for (const content of contents) yield { content, pieces: reader.content(content) };
      },
      [Symbol.dispose]: () => closeSync(fd),
    };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function openFile(file: string): number {
  try {
    // A FIFO must not block the command.
    return openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT')
      throw usageError(`no such file: '${file}'`, 'Name a file that `run-claude export` wrote.');
    throw refused(file, `it cannot be read (${(cause as NodeJS.ErrnoException).code ?? 'unknown error'})`);
  }
}

class SetReader {
  /** Offset of the next byte. */
  at = 0;
  readonly #fd: number;
  readonly #file: string;
  readonly #size: number;

  constructor(fd: number, file: string) {
    const stat = fstatSync(fd);
    this.#fd = fd;
    this.#file = file;
    this.#size = stat.size;
    if (!stat.isFile()) throw this.#refuse('it is not a regular file');
    if (stat.size > MAX_CONTENT_BYTES + 2 * MAX_MANIFEST_BYTES + BLOCK_BYTES * 300_000)
      throw this.#refuse('it is too large');
  }

  manifest(): SetManifest {
    const header = parseTarHeader(this.#read(BLOCK_BYTES));
    if (header?.name !== MANIFEST_NAME) throw this.#refuse(NOT_A_SET);
    if (header.size > MAX_MANIFEST_BYTES) throw this.#refuse('its list of changes is too long');
    const bytes = this.#read(header.size);
    this.#skipPadding(header.size);
    const found = parseManifest(jsonIn(bytes.toString('utf8')));
    if ('refused' in found) throw this.#refuse(found.refused);
    return found;
  }

  /** The next file, which must be this content, in pieces; refused after the last one where the digest differs. */
  *content({ digest, size }: SetContent): Generator<Buffer> {
    const header = parseTarHeader(this.#read(BLOCK_BYTES));
    if (header?.name !== CONTENT_PREFIX + digest || header.size !== size) {
      throw this.#refuse('its files are not those of its list of changes');
    }
    const hash = createHash('sha256');
    for (let left = size; left > 0; ) {
      const piece = this.#read(Math.min(left, PIECE_BYTES));
      left -= piece.length;
      hash.update(piece);
      yield piece;
    }
    this.#skipPadding(size);
    if (hash.digest('hex') !== digest) throw this.#refuse('a content in it does not have its digest');
  }

  end(): void {
    if (!this.#read(TAR_END.length).equals(TAR_END))
      throw this.#refuse('its files are not those of its list of changes');
    if (this.at !== this.#size) throw this.#refuse('it has bytes after its end');
  }

  #skipPadding(size: number): void {
    if (this.#read(paddingOf(size)).some((byte) => byte !== 0))
      throw this.#refuse('it has bytes that belong to no file');
  }

  #read(length: number): Buffer {
    if (this.at + length > this.#size) throw this.#refuse('it ends too early');
    const bytes = Buffer.allocUnsafe(length);
    for (let done = 0; done < length; ) {
      const count = readSync(this.#fd, bytes, done, length - done, this.at + done);
      if (count === 0) throw this.#refuse('it ends too early');
      done += count;
    }
    this.at += length;
    return bytes;
  }

  #refuse(why: string): RunClaudeError {
    return refused(this.#file, why);
  }
}

function refused(file: string, why: string): RunClaudeError {
  return new RunClaudeError('CHANGE_SET_REFUSED', `${file} cannot be imported: ${why}`, {
    hint: 'Nothing was imported. Ask for a file that `run-claude export` wrote, and that was not changed on its way.',
  });
}

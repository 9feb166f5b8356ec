import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { RunClaudeError } from '../../core/errors.ts';

const PIECE_BYTES = 1 << 16;
/** Longer lines are not events of run-claude. */
const MAX_LINE_BYTES = 1 << 16;
const LINE_FEED = 0x0a;

/** Reads a file of lines that grows: each call goes on where the last one ended. */
export class LineTail {
  readonly #file: string;
  #at = 0;
  #partial: Buffer[] = [];
  #partialBytes = 0;

  constructor(file: string) {
    this.#file = file;
  }

  /**
   * The lines that are complete and new, without those that are too long. Nothing without a file.
   *
   * @throws {RunClaudeError} RECORD_UNREADABLE for a link, a folder, and what the system refuses to read
   */
  *read(): Generator<string> {
    const fd = this.#open();
    if (fd === undefined) return;
    try {
      const { size } = fstatSync(fd);
      while (this.#at < size) {
        const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, size - this.#at));
        const length = readSync(fd, piece, 0, piece.length, this.#at);
        if (length === 0) return;
        this.#at += length;
        yield* this.#linesOf(piece.subarray(0, length));
      }
    } catch (cause) {
      throw this.#unreadable(cause as Error);
    } finally {
      closeSync(fd);
    }
  }

  *#linesOf(piece: Buffer): Generator<string> {
    let from = 0;
    for (let end = piece.indexOf(LINE_FEED); end !== -1; end = piece.indexOf(LINE_FEED, from)) {
      this.#keep(piece.subarray(from, end));
      from = end + 1;
      const isWhole = this.#partialBytes <= MAX_LINE_BYTES;
      const line = isWhole ? Buffer.concat(this.#partial).toString('utf8') : undefined;
      this.#partial = [];
      this.#partialBytes = 0;
      if (line !== undefined) yield line;
    }
    this.#keep(piece.subarray(from));
  }

  /** Of a line that is too long only its length is kept. */
  #keep(bytes: Buffer): void {
    this.#partialBytes += bytes.length;
    if (this.#partialBytes <= MAX_LINE_BYTES) this.#partial.push(bytes);
    else this.#partial = [];
  }

  #open(): number | undefined {
    try {
      return openSync(this.#file, constants.O_RDONLY | constants.O_NOFOLLOW);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw this.#unreadable(error as Error);
    }
  }

  #unreadable(cause: Error): RunClaudeError {
    return new RunClaudeError('RECORD_UNREADABLE', `cannot read ${this.#file}: ${cause.message}`, { cause });
  }
}

// What the command that holds a kept session, its clients and the runner inside say to each other. The runner is in the
// agent's hands: the host reads everything from it as data, with a bound on each size.

/** The kinds of frames. Those below 100 go toward the runner, the others come from it. */
export const FRAME = {
  /** JSON: a request. */
  start: 1,
  /** Bytes for the program's standard input. */
  input: 2,
  inputEnd: 3,
  /** Name of a signal for the program. */
  signal: 4,
  /** The client does not want the answer any more: what was started for it is ended. */
  cancel: 5,
  /** Number of bytes of output that the client has taken. */
  taken: 6,
  stdout: 101,
  stderr: 102,
  /** JSON: how the program ended. The last frame of its request. */
  exit: 103,
  /** Number of bytes of input that the program has taken. */
  inputTaken: 104,
  /** The answer to a request that starts no program. The last frame of its request. */
  result: 105,
  /** Text: why a request failed. The last frame of its request. */
  failure: 106,
  /** The runner is ready. */
  hello: 107,
} as const;

export type FrameKind = (typeof FRAME)[keyof typeof FRAME];

export interface Frame {
  readonly kind: number;
  /** Of the request; its client chose it. */
  readonly id: number;
  readonly bytes: Buffer;
}

/** Length of what follows, kind, id. */
const HEADER_BYTES = 9;
/** The largest frame: a file that is written, or an answer. */
export const MAX_FRAME_BYTES: number = 4 * 1024 ** 2;
/** Output is sent in pieces of this size. */
export const PIECE_BYTES: number = 64 * 1024;
/** Bytes of one stream that may be under way, and not yet taken at the other end. */
export const WINDOW_BYTES: number = 1024 ** 2;

const KINDS: ReadonlySet<number> = new Set(Object.values(FRAME));
const NOTHING = Buffer.alloc(0);

/** One frame as it is written to a connection. */
export function encodeFrame(kind: FrameKind, id: number, bytes: Uint8Array = NOTHING): Buffer {
  const frame = Buffer.alloc(HEADER_BYTES + bytes.length);
  frame.writeUInt32BE(bytes.length, 0);
  frame.writeUInt8(kind, 4);
  frame.writeUInt32BE(id, 5);
  frame.set(bytes, HEADER_BYTES);
  return frame;
}

/** One frame with JSON. */
export function encodeJson(kind: FrameKind, id: number, value: object): Buffer {
  return encodeFrame(kind, id, Buffer.from(JSON.stringify(value)));
}

/** One frame with a number of bytes. */
export function encodeCount(kind: FrameKind, id: number, count: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(count);
  return encodeFrame(kind, id, bytes);
}

/** The number in a frame; 0 for a frame that holds none. */
export function countOf({ bytes }: Frame): number {
  return bytes.length === 4 ? bytes.readUInt32BE(0) : 0;
}

/** What arrived is not a frame: its sender cannot be understood any more. */
export class FrameError extends Error {
  override readonly name = 'FrameError';
}

/** Puts the pieces that a connection hands on together again, in time that grows with their size alone. */
export class FrameReader {
  readonly #pieces: Buffer[] = [];
  #length = 0;
  #needed = HEADER_BYTES;

  /** The frames that are complete with this piece, in order. @throws {FrameError} where it is not a frame. */
  *push(piece: Buffer): Generator<Frame> {
    this.#pieces.push(piece);
    this.#length += piece.length;
    while (this.#length >= this.#needed) {
      const all = this.#joined();
      const size = all.readUInt32BE(0);
      const kind = all.readUInt8(4);
      if (size > MAX_FRAME_BYTES || !KINDS.has(kind)) throw new FrameError('what arrived is not a frame');
      const end = HEADER_BYTES + size;
      this.#needed = end;
      if (all.length < end) return;
      this.#pieces[0] = all.subarray(end);
      this.#length -= end;
      this.#needed = HEADER_BYTES;
      yield { kind, id: all.readUInt32BE(5), bytes: all.subarray(HEADER_BYTES, end) };
    }
  }

  #joined(): Buffer {
    if (this.#pieces.length > 1) this.#pieces.splice(0, this.#pieces.length, Buffer.concat(this.#pieces));
    return this.#pieces[0] ?? NOTHING;
  }
}

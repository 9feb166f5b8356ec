/** Bytes before a message: the length of its JSON, and of the bytes that follow it. */
export const HEADER_BYTES = 8;

export interface Frame {
  readonly message: unknown;
  readonly bytes: Buffer;
}

/** A message, and bytes that belong to it, as they are written to a pipe. */
export function encodeFrame(message: object, bytes: Buffer = Buffer.alloc(0)): Buffer {
  const json = Buffer.from(JSON.stringify(message));
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32BE(json.length, 0);
  header.writeUInt32BE(bytes.length, 4);
  return Buffer.concat([header, json, bytes]);
}

/** The length of a frame after its header. */
export function bodyLength(header: Buffer): number {
  return header.readUInt32BE(0) + header.readUInt32BE(4);
}

/** The frame of a header and its body. Throws what JSON.parse throws. */
export function decodeFrame(header: Buffer, body: Buffer): Frame {
  const length = header.readUInt32BE(0);
  return { message: JSON.parse(body.toString('utf8', 0, length)) as unknown, bytes: body.subarray(length) };
}

/** Puts the pieces that a pipe hands on together again. */
export class FrameBuffer {
  #pieces: Buffer[] = [];
  #length = 0;

  /** The frames that are complete with this piece, in order. */
  *push(piece: Buffer): Generator<Frame> {
    this.#pieces.push(piece);
    this.#length += piece.length;
    for (let frame = this.#take(); frame !== undefined; frame = this.#take()) yield frame;
  }

  #take(): Frame | undefined {
    if (this.#length < HEADER_BYTES) return undefined;
    const header = this.#peek(HEADER_BYTES);
    const end = HEADER_BYTES + bodyLength(header);
    if (this.#length < end) return undefined;
    const all = this.#peek(end);
    this.#pieces = [this.#joined().subarray(end)];
    this.#length -= end;
    return decodeFrame(header, all.subarray(HEADER_BYTES, end));
  }

  #peek(length: number): Buffer {
    if ((this.#pieces[0]?.length ?? 0) >= length) return (this.#pieces[0] as Buffer).subarray(0, length);
    return this.#joined().subarray(0, length);
  }

  #joined(): Buffer {
    if (this.#pieces.length !== 1) this.#pieces = [Buffer.concat(this.#pieces)];
    return this.#pieces[0] as Buffer;
  }
}

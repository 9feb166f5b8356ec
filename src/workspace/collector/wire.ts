import { RunClaudeError } from '../../core/errors.ts';
import { decodeBytes, encodeBytes, parseRelPath } from '../../core/text/path.ts';
import type { ListedEntry } from '../../core/types/collector.ts';
import type { EntryKind } from '../../core/types/entry.ts';

// The host's end of images/collector/wire.h: u32 length of the rest, u32 request id, u8 kind, payload; little endian.

/** Version of the protocol, which the collector sends first; another one is refused. */
export const WIRE_VERSION = 1;
const FRAME_MAX = 256 * 1024;
/** Longer paths are refused by the collector, entry by entry. */
export const WIRE_PATH_MAX = 32_768;

export interface Frame {
  readonly id: number;
  /** The letter of the kind: E entries, D data, Z hole, S one entry, N none, F space, H hello, X end, ! error. */
  readonly kind: string;
  readonly payload: Buffer;
}

export interface Space {
  readonly bytes: number;
  /** What may be written, and all that is free (with the file system's own reserve). */
  readonly available: number;
  readonly free: number;
  readonly inodes: number;
  readonly inodesFree: number;
}

/** Cuts a byte stream into frames. Throws RunClaudeError COLLECTOR_PROTOCOL on anything else. */
export class FrameCutter {
  private parts: Buffer[] = [];
  private held = 0;

  /** The frames that are whole after this chunk. */
  push(chunk: Buffer): Frame[] {
    this.parts.push(chunk);
    this.held += chunk.length;
    const frames: Frame[] = [];
    if (this.held < 4) return frames;
    let all = this.parts.length === 1 ? chunk : undefined;
    if (all === undefined) {
      // Joined only when the frame at the start can be whole: a frame in many chunks would be copied each time.
      const head = (this.parts[0] as Buffer).length >= 4 ? (this.parts[0] as Buffer) : Buffer.concat(this.parts);
      if (this.held < frameLength(head, 0) + 4) return frames;
      all = Buffer.concat(this.parts);
    }
    let at = 0;
    while (all.length - at >= 4) {
      const length = frameLength(all, at);
      if (all.length - at - 4 < length) break;
      frames.push({
        id: all.readUInt32LE(at + 4),
        kind: String.fromCharCode(all[at + 8] as number),
        payload: all.subarray(at + 9, at + 4 + length),
      });
      at += 4 + length;
    }
    this.parts = at === all.length ? [] : [all.subarray(at)];
    this.held = all.length - at;
    return frames;
  }
}

function frameLength(bytes: Buffer, at: number): number {
  const length = bytes.readUInt32LE(at);
  if (length < 5 || length > FRAME_MAX) throw protocolError(`a frame of ${length} bytes`);
  return length;
}

/** A request: op, then texts and numbers in the order that the collector takes them. */
export function encodeRequest(id: number, op: string, fields: readonly Field[]): Buffer {
  const parts: Buffer[] = [Buffer.alloc(9)];
  for (const field of fields) {
    if ('u8' in field) parts.push(Buffer.of(field.u8));
    else if ('u64' in field) {
      const number = Buffer.alloc(8);
      number.writeBigUInt64LE(BigInt(field.u64));
      parts.push(number);
    } else {
      const bytes = encodeBytes(field.text);
      const length = Buffer.alloc(4);
      length.writeUInt32LE(bytes.length);
      parts.push(length, bytes);
    }
  }
  const whole = Buffer.concat(parts);
  whole.writeUInt32LE(whole.length - 4, 0);
  whole.writeUInt32LE(id, 4);
  whole[8] = op.charCodeAt(0);
  return whole;
}

export type Field = { readonly u8: number } | { readonly u64: number } | { readonly text: string };

/** Takes a payload apart, bounds checked. */
export class PayloadReader {
  private at = 0;
  private readonly payload: Buffer;
  constructor(payload: Buffer) {
    this.payload = payload;
  }
  get done(): boolean {
    return this.at === this.payload.length;
  }
  u8(): number {
    return this.take(1)[0] as number;
  }
  u32(): number {
    return this.take(4).readUInt32LE();
  }
  u64(): bigint {
    return this.take(8).readBigUInt64LE();
  }
  /** As a number; throws when it would lose bits. */
  size(): number {
    const value = this.u64();
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw protocolError('a number that is too large');
    return Number(value);
  }
  text(): string {
    return decodeBytes(this.take(this.u32()));
  }
  /** Nanoseconds since the epoch as decimal text; seconds may be negative. */
  timeNs(): string {
    const seconds = BigInt.asIntN(64, this.u64());
    return (seconds * 1_000_000_000n + BigInt(this.u32())).toString();
  }
  private take(length: number): Buffer {
    const end = this.at + length;
    if (end > this.payload.length) throw protocolError('a payload that is too short');
    const bytes = this.payload.subarray(this.at, end);
    this.at = end;
    return bytes;
  }
}

const KINDS: Readonly<Record<string, EntryKind>> = {
  f: 'file',
  d: 'dir',
  l: 'symlink',
  p: 'fifo',
  s: 'socket',
  c: 'char',
  b: 'block',
};

/** One entry record of an E or S frame. */
export function readEntry(from: PayloadReader): ListedEntry {
  const text = from.text();
  const path = parseRelPath(text);
  if (path === undefined || text.length > WIRE_PATH_MAX + 256) throw protocolError('a path that is none');
  const kind = KINDS[String.fromCharCode(from.u8())];
  if (kind === undefined) throw protocolError('an entry of no known kind');
  const flags = from.u8();
  const mode = from.u32() & 0o7777;
  const uid = from.u32();
  const gid = from.u32();
  const nlink = from.u32();
  const size = from.u64();
  const allocated = from.u64();
  const ino = from.u64().toString();
  const mtimeNs = from.timeNs();
  const ctimeNs = from.timeNs();
  const target = from.text();
  const problem = from.text() || (flags & 4 ? 'it has overlay marks that no session makes' : '');
  // A hostile sparse size may pass 2^53; what is so large is never read anyway.
  const bytes = Number(size);
  return {
    path,
    kind,
    mode,
    uid,
    gid,
    nlink,
    size: kind === 'file' ? bytes : 0,
    mtimeNs,
    ctimeNs,
    ino,
    ...(kind === 'symlink' ? { target } : {}),
    ...(kind === 'file' && Number(allocated) + 65_536 < bytes ? { allocated: Number(allocated) } : {}),
    ...(kind === 'file' && nlink > 1 ? { linkGroup: ino } : {}),
    ...(flags & 1 ? { whiteout: true } : {}),
    ...(flags & 2 ? { opaque: true } : {}),
    ...(problem === '' ? {} : { problem }),
  };
}

/** What the collector sent cannot be its answer: nothing of it is taken. */
export function protocolError(what: string): RunClaudeError {
  return new RunClaudeError('COLLECTOR_PROTOCOL', `the collector sent ${what}`, {
    hint: 'Nothing was taken from the session; `run-claude build --rebuild` makes a fresh image.',
  });
}

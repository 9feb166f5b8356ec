import { constants, inflateRawSync } from 'node:zlib';
import type { SearchedValues } from './value-search.ts';

/** Of a file, this much is searched at each end. */
export const MAX_SEARCHED_BYTES = 64 * 1024 * 1024;
/** Of what one gzip stream holds, this much is searched. */
export const MAX_INFLATED_BYTES = 64 * 1024 * 1024;
/** One byte of deflate holds at most 1032 bytes (RFC 1951: 258 bytes for two bits). */
const MOST_INFLATION = 1033;
/** Streams of gzip in one file that are searched. */
const MAX_STREAMS = 16;
/** A gzip stream within another one: what is deeper is not searched. */
const MAX_DEPTH = 2;

const MAGIC = Uint8Array.of(0x1f, 0x8b, 8);

/** The numbers of the values that are in the bytes, or in a gzip stream that begins anywhere in them. */
export function searchContents(values: SearchedValues, bytes: Uint8Array): ReadonlySet<number> {
  const found = new Set<number>();
  searchInto(values, bytes, found, 0);
  return found;
}

function searchInto(values: SearchedValues, bytes: Uint8Array, found: Set<number>, depth: number): void {
  const parts =
    bytes.length <= 2 * MAX_SEARCHED_BYTES
      ? [bytes]
      : [bytes.subarray(0, MAX_SEARCHED_BYTES), bytes.subarray(-MAX_SEARCHED_BYTES)];
  let streams = 0;
  for (const part of parts) {
    const search = values.search();
    search.push(part);
    for (const value of search.found) found.add(value);
    if (depth >= MAX_DEPTH) continue;
    for (const at of gzipStreams(part)) {
      streams += 1;
      if (streams > MAX_STREAMS) return;
      const inflated = inflate(part.subarray(at));
      if (inflated !== undefined) searchInto(values, inflated, found, depth + 1);
    }
  }
}

/** Where a gzip stream may begin (RFC 1952). */
function* gzipStreams(bytes: Uint8Array): Generator<number> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = buffer.indexOf(MAGIC); at >= 0; at = buffer.indexOf(MAGIC, at + 1)) yield at;
}

/** What a stream holds, even when its end is missing; of one that holds too much, the beginning. Undefined: it is none. */
function inflate(bytes: Uint8Array): Buffer | undefined {
  const deflated = bytes.subarray(headerLength(bytes));
  for (const part of [deflated, deflated.subarray(0, MAX_INFLATED_BYTES / MOST_INFLATION)])
    try {
      // Without the header and the checksum: other bytes may follow the stream.
      return inflateRawSync(part, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: MAX_INFLATED_BYTES });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE') return undefined;
    }
  return undefined;
}

/** Bytes of the header of a gzip stream (RFC 1952, 2.3). */
function headerLength(bytes: Uint8Array): number {
  const flags = bytes[3] ?? 0;
  let length = 10;
  if ((flags & EXTRA) !== 0) length += 2 + (bytes[length] ?? 0) + 256 * (bytes[length + 1] ?? 0);
  for (const field of [NAME, COMMENT])
    if ((flags & field) !== 0) {
      const end = bytes.indexOf(0, length);
      length = end < 0 ? bytes.length : end + 1;
    }
  return (flags & HEADER_CHECKSUM) === 0 ? length : length + 2;
}

const [HEADER_CHECKSUM, EXTRA, NAME, COMMENT] = [2, 4, 8, 16] as const;

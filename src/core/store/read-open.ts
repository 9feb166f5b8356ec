import { readSync } from 'node:fs';

/** Most files fit, and a buffer of a megabyte for each of thousands costs more than reading them. */
const FIRST_BYTES = 1 << 16;
const NEXT_BYTES = 1 << 20;

/** Content of an open file in pieces, from its start. */
export function* readOpen(fd: number): Generator<Buffer> {
  let buffer = Buffer.allocUnsafe(FIRST_BYTES);
  for (let [at, used] = [0, 0]; ; ) {
    if (used === buffer.length) [buffer, used] = [Buffer.allocUnsafe(NEXT_BYTES), 0];
    const length = readSync(fd, buffer, used, buffer.length - used, at);
    if (length === 0) return;
    yield buffer.subarray(used, used + length);
    at += length;
    used += length;
  }
}

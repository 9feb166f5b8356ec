import { readSync } from 'node:fs';

/** Content of an open file in pieces, from its start. */
export function* readOpen(fd: number): Generator<Buffer> {
  for (let at = 0; ; ) {
    const piece = Buffer.allocUnsafe(1 << 20);
    const length = readSync(fd, piece, 0, piece.length, at);
    if (length === 0) return;
    at += length;
    yield piece.subarray(0, length);
  }
}

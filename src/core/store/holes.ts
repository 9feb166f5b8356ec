/** The block size of most file systems: a sparse file takes no more room in the store than in the layer. */
const BLOCK = 4096;
const ZEROS = Buffer.alloc(BLOCK);

/** Longer than any piece that the collector sends. */
const LONG_ZEROS = Buffer.alloc(1 << 20);

/** Whether a piece is nothing but whole blocks of zeros: nothing of it is written, and nothing needs to be kept. */
export function isHole(piece: Uint8Array): boolean {
  const { length } = piece;
  return length >= BLOCK && length <= LONG_ZEROS.length && LONG_ZEROS.compare(piece, 0, length, 0, length) === 0;
}

/** The ranges of a piece outside whole blocks of zeros: in a new file the others are not written and take no room. */
export function* dataRuns(piece: Uint8Array): Generator<readonly [from: number, to: number]> {
  let from = 0;
  for (let at = 0; at + BLOCK <= piece.length; at += BLOCK) {
    if (ZEROS.compare(piece, at, at + BLOCK) !== 0) continue;
    if (at > from) yield [from, at];
    from = at + BLOCK;
  }
  if (piece.length > from) yield [from, piece.length];
}

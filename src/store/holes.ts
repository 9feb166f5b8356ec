/** The block size of most file systems: a sparse file takes no more room in the store than in the layer. */
const BLOCK = 4096;
const ZEROS = Buffer.alloc(BLOCK);

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

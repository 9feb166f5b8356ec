/** Of most disks: what is kept takes no more room than it did in the layer. */
const BLOCK = 4096;
const ZEROS = Buffer.alloc(BLOCK);

/** From where to where a piece is not whole blocks of zeros: what is left out in a new file takes no room on the disk. */
export function* dataRuns(piece: Uint8Array): Generator<readonly [from: number, to: number]> {
  let from = 0;
  for (let at = 0; at + BLOCK <= piece.length; at += BLOCK) {
    if (ZEROS.compare(piece, at, at + BLOCK) !== 0) continue;
    if (at > from) yield [from, at];
    from = at + BLOCK;
  }
  if (piece.length > from) yield [from, piece.length];
}

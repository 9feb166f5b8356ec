/** How many bytes each piece of a content takes, by the piece: a line, or 64 bytes of a longer one, as git does it. */
export type Sketch = ReadonlyMap<string, number>;

const PIECE_BYTES = 64;
const LINE_FEED = 10;

/** The pieces themselves are the keys, not hashes of them: no content can pretend to be another one. */
export function sketchOf(content: Buffer): Sketch {
  const pieces = new Map<string, number>();
  for (let from = 0; from < content.length; ) {
    const line = content.subarray(from, from + PIECE_BYTES).indexOf(LINE_FEED);
    const to = line >= 0 ? from + line + 1 : Math.min(from + PIECE_BYTES, content.length);
    const piece = content.toString('latin1', from, to);
    pieces.set(piece, (pieces.get(piece) ?? 0) + to - from);
    from = to;
  }
  return pieces;
}

/** Bytes that two contents have in common. */
export function commonBytes(a: Sketch, b: Sketch): number {
  const [few, many] = a.size <= b.size ? [a, b] : [b, a];
  let common = 0;
  for (const [piece, bytes] of few) common += Math.min(bytes, many.get(piece) ?? 0);
  return common;
}

import { createHash, type Hash } from 'node:crypto';

export interface PrefixCheck {
  /** Bytes that were staged; the rest is what the session added. */
  readonly size: number;
  /** Their SHA-256. */
  readonly digest: string;
}

export interface AddedLines {
  /** Whole lines after the prefix, without line ends; undefined for a line that was too long. */
  readonly lines: AsyncIterable<string | undefined>;
  /** Whether the prefix is what was staged. Known once the lines have been read. */
  prefixIntact(): boolean;
  /** Whether the last line had no end. Known once the lines have been read. */
  partial(): boolean;
}

/**
 * The lines that a session added to a file whose beginning must still be what was staged. Holds at most `lineMax` bytes
 * of a line in memory; `onPrefix` receives the parts of the beginning.
 */
export function addedLines(
  chunks: AsyncIterable<Buffer>,
  prefix: PrefixCheck,
  lineMax: number,
  onPrefix: (part: Buffer) => void = () => undefined,
): AddedLines {
  const hash: Hash = createHash('sha256');
  let left = prefix.size;
  let partial = false;
  async function* read(): AsyncGenerator<string | undefined> {
    let held: Buffer[] = [];
    let heldBytes = 0;
    let tooLong = false;
    for await (const chunk of chunks) {
      const known = Math.min(left, chunk.length);
      hash.update(chunk.subarray(0, known));
      if (known > 0) onPrefix(chunk.subarray(0, known));
      left -= known;
      for (let at = known; at < chunk.length; ) {
        const end = chunk.indexOf(0x0a, at);
        const piece = chunk.subarray(at, end < 0 ? chunk.length : end);
        if (heldBytes + piece.length > lineMax) tooLong = true;
        if (!tooLong) {
          // A copy: the piece must not keep its whole chunk alive.
          held.push(Buffer.from(piece));
          heldBytes += piece.length;
        }
        at += piece.length;
        if (end < 0) break;
        at += 1;
        yield tooLong ? undefined : Buffer.concat(held).toString('utf8');
        held = [];
        heldBytes = 0;
        tooLong = false;
      }
    }
    partial = heldBytes > 0 || tooLong;
  }
  return {
    lines: read(),
    prefixIntact: () => left === 0 && (prefix.size === 0 || hash.copy().digest('hex') === prefix.digest),
    partial: () => partial,
  };
}

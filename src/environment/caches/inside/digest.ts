import { createHash } from 'node:crypto';
import type { HashName } from '../ecosystem.ts';
import { zipFiles } from './zip-files.ts';

/** Go refuses larger ones (golang.org/x/mod/zip, MaxGoMod and MaxZipFile). They are held in memory. */
const MAX_BYTES = { 'go-mod': 16 * 1024 ** 2, 'go-zip': 500 * 1024 ** 2 } as const;

/** A hash that is counted piece by piece. */
export interface Digest {
  add(piece: Uint8Array): void;
  /**
   * Hex.
   *
   * @throws {Error} for bytes that have no such hash: what is not a zip, or too large for Go
   */
  end(): string;
}

export function startDigest(name: HashName): Digest {
  if (name !== 'go-mod' && name !== 'go-zip') {
    const hash = createHash(name);
    return { add: (piece) => void hash.update(piece), end: () => hash.digest('hex') };
  }
  let pieces: Uint8Array[] = [];
  let bytes = 0;
  return {
    add(piece) {
      bytes += piece.byteLength;
      if (bytes <= MAX_BYTES[name]) pieces.push(piece);
      else pieces = [];
    },
    end() {
      if (bytes > MAX_BYTES[name]) throw new Error('it is larger than Go allows');
      const content = Buffer.concat(pieces);
      return hashOfFiles(name === 'go-mod' ? new Map([['go.mod', content]]) : zipFiles(content));
    },
  };
}

/** h1 of golang.org/x/mod/sumdb/dirhash: one line for each file, in the order of their names. */
function hashOfFiles(files: ReadonlyMap<string, Uint8Array>): string {
  const names = [...files.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const all = createHash('sha256');
  for (const name of names) {
    // Its lines could be those of other files with the same hash. Go refuses it too.
    if (name.includes('\n')) throw new Error('it has a file name with a line break');
    const hex = createHash('sha256')
      .update(files.get(name) ?? '')
      .digest('hex');
    all.update(`${hex}  ${name}\n`);
  }
  return all.digest('hex');
}

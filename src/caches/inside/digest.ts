import { createHash } from 'node:crypto';
import type { HashName } from '../ecosystem.ts';
import { zipFiles } from './zip-files.ts';

/** A hash that is counted piece by piece. */
export interface Digest {
  add(piece: Uint8Array): void;
  /**
   * Hex.
   *
   * @throws {Error} for bytes that have no such hash: an archive that is not a zip
   */
  end(): string;
}

export function startDigest(name: HashName): Digest {
  if (name !== 'go-mod' && name !== 'go-zip') {
    const hash = createHash(name);
    return { add: (piece) => void hash.update(piece), end: () => hash.digest('hex') };
  }
  const pieces: Uint8Array[] = [];
  return {
    add: (piece) => void pieces.push(piece),
    end() {
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
    const hex = createHash('sha256')
      .update(files.get(name) ?? '')
      .digest('hex');
    all.update(`${hex}  ${name}\n`);
  }
  return all.digest('hex');
}

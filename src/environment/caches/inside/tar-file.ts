const BLOCK = 512;
/** crates.io publishes no crate that unpacks to more (crates.io, MAX_UNPACK_SIZE). */
const MAX_UNPACKED_BYTES = 512 * 1024 ** 2;

/**
 * The first regular file of a tar archive whose name matches. Nothing is written, and no more is held than that file.
 *
 * @throws {Error} when there is none, it is larger than `maxBytes`, or the archive cannot be read
 */
export async function fileOfTar(archive: AsyncIterable<Buffer>, name: RegExp, maxBytes: number): Promise<Buffer> {
  let kept = Buffer.alloc(0);
  /** Bytes of the current entry that are still to come, with its padding. */
  let left = 0;
  let size: number | undefined;
  let unpacked = 0;
  for await (const piece of archive) {
    unpacked += piece.length;
    if (unpacked > MAX_UNPACKED_BYTES) throw new Error('it unpacks to more than 512 MB');
    let rest = piece;
    while (rest.length > 0) {
      const wanted = size ?? (left > 0 ? left : BLOCK - kept.length);
      const part = rest.subarray(0, size === undefined ? wanted : size - kept.length);
      rest = rest.subarray(part.length);
      if (size === undefined && left > 0) {
        left -= part.length;
        continue;
      }
      kept = Buffer.concat([kept, part]);
      if (size !== undefined && kept.length === size) return kept;
      if (size !== undefined || kept.length < BLOCK) continue;
      const entry = headerOf(kept);
      kept = Buffer.alloc(0);
      if (entry.isFile && name.test(entry.name)) {
        if (entry.size === 0 || entry.size > maxBytes) throw new Error('its file is empty or too large');
        size = entry.size;
      } else left = Math.ceil(entry.size / BLOCK) * BLOCK;
    }
  }
  throw new Error('it has no such file');
}

function headerOf(block: Buffer): { readonly name: string; readonly size: number; readonly isFile: boolean } {
  const text = (from: number, to: number): string => block.toString('utf8', from, to).replace(/\0.*$/s, '');
  const size = Number.parseInt(text(124, 136).trim() || '0', 8);
  if (!Number.isSafeInteger(size) || size < 0) throw new Error('it is not a tar archive');
  const prefix = text(257, 262) === 'ustar' ? text(345, 500) : '';
  const name = `${prefix === '' ? '' : `${prefix}/`}${text(0, 100)}`;
  return { name, size, isFile: block[156] === 0 || block[156] === 0x30 };
}

const HEADER = 12;
/** Times, device, inode, mode, owner and size, before an entry's object name. */
const STAT = 40;
const EXTENDED = 0x4000;

/** One entry of an index file: where its parts are, and its path. */
export interface IndexEntry {
  readonly start: number;
  /** Of the two bytes of flags; two more follow where the first ones say so. */
  readonly flagsAt: number;
  readonly isExtended: boolean;
  /** Of the path, or in version 4 of the number that comes before what differs from the former path. */
  readonly nameAt: number;
  readonly name: Buffer;
  /** Of the next entry. */
  readonly end: number;
}

/**
 * Reads the entries of an index file of git, in their order (format in git's Documentation/gitformat-index: versions 2, 3
 * and 4, object names of 20 or 32 bytes). Returns where the extensions begin; undefined where the file is not an index
 * or an entry cannot be read.
 */
export function readIndex(
  index: Buffer,
  objectNameBytes: 20 | 32,
  visit: (entry: IndexEntry) => void,
): number | undefined {
  if (index.length < HEADER || index.toString('latin1', 0, 4) !== 'DIRC') return undefined;
  const version = index.readUInt32BE(4);
  const count = index.readUInt32BE(8);
  if (version < 2 || version > 4) return undefined;
  let at = HEADER;
  let former: Buffer = Buffer.alloc(0);
  for (let n = 0; n < count; n += 1) {
    const start = at;
    const flagsAt = at + STAT + objectNameBytes;
    if (flagsAt + 4 > index.length) return undefined;
    const isExtended = (index.readUInt16BE(flagsAt) & EXTENDED) !== 0;
    const nameAt = flagsAt + (isExtended ? 4 : 2);
    let kept = 0;
    at = nameAt;
    if (version === 4) {
      const cut = offsetNumber(index, at);
      kept = Math.max(0, former.length - cut.value);
      at = cut.next;
    }
    const zero = index.indexOf(0, at);
    if (zero === -1) return undefined;
    const rest = index.subarray(at, zero);
    former = version === 4 ? Buffer.concat([former.subarray(0, kept), rest]) : rest;
    // Versions 2 and 3 pad every entry to a multiple of eight, with one to eight zero bytes.
    at = version === 4 ? zero + 1 : start + padded(zero - start);
    visit({ start, flagsAt, isExtended, nameAt, name: former, end: at });
  }
  return at;
}

/** The length of an entry of version 2 or 3, from the length without the zero bytes at its end. */
export function padded(length: number): number {
  return (Math.floor(length / 8) + 1) * 8;
}

/** The variable-length number of pack offsets: each continued byte adds one, so that no number has two forms. */
function offsetNumber(bytes: Buffer, at: number): { readonly value: number; readonly next: number } {
  let next = at;
  let byte = bytes[next++] ?? 0;
  let value = byte & 0x7f;
  while ((byte & 0x80) !== 0) {
    byte = bytes[next++] ?? 0;
    value = (value + 1) * 128 + (byte & 0x7f);
  }
  return { value, next };
}

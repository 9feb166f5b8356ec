const HEADER = 12;
/** Times, device, inode, mode, owner and size, before an entry's object name. */
const STAT = 40;
const EXTENDED = 0x4000;

/**
 * The paths that an index file of git tracks (format in git's Documentation/gitformat-index: versions 2, 3 and 4,
 * object names of 20 or 32 bytes). What cannot be read gives the paths before it: a path that is missing here is
 * taken for untracked.
 */
export function indexPaths(index: Buffer, objectNameBytes: 20 | 32 = 20): Set<string> {
  return readEntries(index, objectNameBytes).paths;
}

/**
 * As {@link indexPaths}; undefined where this file does not name all of them: it is damaged, shares entries with another
 * file (`link`), or has whole directories in place of their files (`sdir`).
 */
export function allIndexPaths(index: Buffer, objectNameBytes: 20 | 32 = 20): ReadonlySet<string> | undefined {
  const { paths, end } = readEntries(index, objectNameBytes);
  if (end === undefined) return undefined;
  const extensionsEnd = index.length - objectNameBytes;
  let at = end;
  while (at + 8 <= extensionsEnd) {
    if (['link', 'sdir'].includes(index.toString('latin1', at, at + 4))) return undefined;
    at += 8 + index.readUInt32BE(at + 4);
  }
  return at === extensionsEnd ? paths : undefined;
}

/** `end`: where the extensions begin; undefined where not all entries can be read. */
function readEntries(index: Buffer, objectNameBytes: 20 | 32): { paths: Set<string>; end: number | undefined } {
  const paths = new Set<string>();
  if (index.length < HEADER || index.toString('latin1', 0, 4) !== 'DIRC') return { paths, end: undefined };
  const version = index.readUInt32BE(4);
  const count = index.readUInt32BE(8);
  if (version < 2 || version > 4) return { paths, end: undefined };
  let at = HEADER;
  let former = Buffer.alloc(0);
  for (let n = 0; n < count; n += 1) {
    const start = at;
    at += STAT + objectNameBytes;
    if (at + 4 > index.length) return { paths, end: undefined };
    at += (index.readUInt16BE(at) & EXTENDED) === 0 ? 2 : 4;
    let kept = 0;
    if (version === 4) {
      const cut = offsetNumber(index, at);
      kept = Math.max(0, former.length - cut.value);
      at = cut.next;
    }
    const end = index.indexOf(0, at);
    if (end === -1) return { paths, end: undefined };
    former = Buffer.concat([former.subarray(0, kept), index.subarray(at, end)]);
    paths.add(former.toString('utf8'));
    // Versions 2 and 3 pad every entry to a multiple of eight, with one to eight zero bytes.
    at = version === 4 ? end + 1 : start + (Math.floor((end - start) / 8) + 1) * 8;
  }
  return { paths, end: at };
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

import { decodeBytes } from '../text/path.ts';

const HEADER = 12;
/** Times, device, inode, mode, owner and size, before an entry's object name. */
const STAT = 40;
const EXTENDED = 0x4000;
const STAGE = 0x3000;
/** Of the later flags: skip-worktree and intent-to-add. Such an entry says nothing about a file. */
const WITHOUT_FILE = 0x6000;
const REGULAR = 0x8;

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

/**
 * The extensions of an index by their four letters, from where its entries end. Undefined where they are not whole.
 */
export function indexExtensions(
  index: Buffer,
  objectNameBytes: 20 | 32,
  from: number,
): ReadonlyMap<string, Buffer> | undefined {
  const found = new Map<string, Buffer>();
  const extensionsEnd = index.length - objectNameBytes;
  let at = from;
  while (at + 8 <= extensionsEnd) {
    const next = at + 8 + index.readUInt32BE(at + 4);
    found.set(index.toString('latin1', at, at + 4), index.subarray(at + 8, next));
    at = next;
  }
  return at === extensionsEnd ? found : undefined;
}

/** Whether the index shares entries with another file (`link`), or has whole directories in place of their files. */
export function isPartOfIndex(extensions: ReadonlyMap<string, Buffer>): boolean {
  return extensions.has('link') || extensions.has('sdir');
}

/** A regular file as an index knows it: how lstat showed it when its content was compared. */
export interface IndexedFile {
  readonly path: string;
  readonly ctime: IndexTime;
  readonly mtime: IndexTime;
  /** Of the inode number and the size the lower 32 bits. */
  readonly ino: number;
  readonly size: number;
}

export interface IndexTime {
  readonly seconds: number;
  readonly nanoseconds: number;
}

/** Where the content of some files is in a repository: the ids of trees by directory, and of blobs by path. */
export interface IndexedContent {
  /** Of whole directories, the topmost ones; '' is the top of the work tree. */
  readonly trees: ReadonlyMap<string, string>;
  /** Of files in no such directory. */
  readonly blobs: ReadonlyMap<string, string>;
}

/**
 * The files of an index for which `isUnchanged` is true, and where their content is. Undefined for an index that cannot
 * be read, or does not name all files.
 */
export function unchangedFiles(
  index: Buffer,
  objectNameBytes: 20 | 32,
  isUnchanged: (file: IndexedFile) => boolean,
): (IndexedContent & { readonly paths: readonly string[] }) | undefined {
  const unchanged = new Map<string, number>();
  const end = readIndex(index, objectNameBytes, ({ name, start, flagsAt, isExtended }) => {
    if (index.readUInt32BE(start + 24) >>> 12 !== REGULAR) return;
    if ((index.readUInt16BE(flagsAt) & STAGE) !== 0) return;
    if (isExtended && (index.readUInt16BE(flagsAt + 2) & WITHOUT_FILE) !== 0) return;
    const file: IndexedFile = {
      path: decodeName(name),
      ctime: timeAt(index, start),
      mtime: timeAt(index, start + 8),
      ino: index.readUInt32BE(start + 20),
      size: index.readUInt32BE(start + 36),
    };
    if (isUnchanged(file)) unchanged.set(file.path, start + STAT);
  });
  const extensions = end === undefined ? undefined : indexExtensions(index, objectNameBytes, end);
  if (extensions === undefined || isPartOfIndex(extensions)) return undefined;
  const trees = topmostTrees(extensions.get('TREE'), objectNameBytes);
  const blobs = new Map<string, string>();
  for (const [path, at] of unchanged)
    if (treeAbove(path, trees) === undefined) blobs.set(path, index.toString('hex', at, at + objectNameBytes));
  return { trees, blobs, paths: [...unchanged.keys()] };
}

/** The nearest directory around a path that has a tree; undefined where none has. */
export function treeAbove(path: string, trees: ReadonlyMap<string, string>): string | undefined {
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
    const dir = path.slice(0, at);
    if (trees.has(dir)) return dir;
  }
  return trees.has('') ? '' : undefined;
}

/** As decodeBytes, of thousands of names that are nearly all UTF-8. */
function decodeName(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  return text.includes('\ufffd') ? decodeBytes(bytes) : text;
}

function timeAt(index: Buffer, at: number): IndexTime {
  return { seconds: index.readUInt32BE(at), nanoseconds: index.readUInt32BE(at + 4) };
}

/**
 * The trees that git noted for whole directories (the extension TREE), without those in another one. A directory with a
 * change that is not committed has none.
 */
function topmostTrees(extension: Buffer | undefined, objectNameBytes: 20 | 32): Map<string, string> {
  const trees = new Map<string, string>();
  if (extension === undefined) return trees;
  /** Reads one directory and what is below it, from `at`. Returns where the next one begins. */
  const todo: { readonly dir: string; left: number; readonly isCovered: boolean }[] = [
    { dir: '', left: 1, isCovered: false },
  ];
  for (let at = 0; todo.length > 0; ) {
    const parent = todo.at(-1) as (typeof todo)[number];
    if (parent.left === 0) {
      todo.pop();
      continue;
    }
    parent.left -= 1;
    const [nameEnd, lineEnd] = [extension.indexOf(0, at), extension.indexOf(10, at)];
    const counts = /^(-?\d+) (\d+)$/.exec(extension.toString('latin1', nameEnd + 1, Math.max(0, lineEnd)));
    if (nameEnd < at || lineEnd < nameEnd || counts === null) return new Map();
    const name = decodeBytes(extension.subarray(at, nameEnd));
    const dir = todo.length === 1 ? '' : parent.dir === '' ? name : `${parent.dir}/${name}`;
    const isValid = !counts[1]?.startsWith('-');
    at = lineEnd + 1;
    if (isValid && !parent.isCovered) trees.set(dir, extension.toString('hex', at, at + objectNameBytes));
    if (isValid) at += objectNameBytes;
    todo.push({ dir, left: Number(counts[2]), isCovered: parent.isCovered || isValid });
  }
  return trees;
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

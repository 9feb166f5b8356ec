import { inflateRawSync } from 'node:zlib';

const END = 0x06054b50;
const ENTRY = 0x02014b50;
const LOCAL = 0x04034b50;
const END_BYTES = 22;
const MAX_COMMENT_BYTES = 65_535;
/** Go refuses modules whose files are larger together (golang.org/x/mod/zip, MaxZipFile). */
const MAX_FILES_BYTES = 500 * 1024 ** 2;

/**
 * The files of a zip by name, read through its central directory, as Go reads them. No file is written.
 *
 * @throws {Error} for what is not a zip of this form: encrypted, in parts, or with an unknown compression
 */
export function zipFiles(zip: Buffer): ReadonlyMap<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  const end = findEnd(zip);
  let at = zip.readUInt32LE(end + 16);
  let left = MAX_FILES_BYTES;
  for (let count = zip.readUInt16LE(end + 10); count > 0; count -= 1) {
    if (zip.readUInt32LE(at) !== ENTRY) throw new Error('it is not a zip');
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((offset) => zip.readUInt16LE(at + offset)) as [
      number,
      number,
      number,
    ];
    const name = zip.toString('utf8', at + 46, at + 46 + nameBytes);
    if (files.has(name)) throw new Error('it has two files of one name');
    const content = contentAt(zip, at, left);
    left -= content.byteLength;
    files.set(name, content);
    at += 46 + nameBytes + extraBytes + commentBytes;
  }
  return files;
}

function findEnd(zip: Buffer): number {
  const lowest = Math.max(0, zip.length - END_BYTES - MAX_COMMENT_BYTES);
  for (let at = zip.length - END_BYTES; at >= lowest; at -= 1) if (zip.readUInt32LE(at) === END) return at;
  throw new Error('it is not a zip');
}

function contentAt(zip: Buffer, entry: number, maxOutputLength: number): Uint8Array {
  const method = zip.readUInt16LE(entry + 10);
  const bytes = zip.readUInt32LE(entry + 20);
  const local = zip.readUInt32LE(entry + 42);
  if (zip.readUInt32LE(local) !== LOCAL) throw new Error('it is not a zip');
  const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
  const raw = zip.subarray(start, start + bytes);
  if (method === 0 && bytes <= maxOutputLength) return raw;
  if (method === 8) return inflateRawSync(raw, { maxOutputLength: Math.max(1, maxOutputLength) });
  throw new Error('it has a file that cannot be read');
}

import { createHash } from 'node:crypto';
import { closeSync, existsSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs';
import path from 'node:path';

/** How a repository names its objects. */
export type ObjectHash = 'sha1' | 'sha256';

/** The name that git gives to a file of this content. */
export function blobName(bytes: Uint8Array, hash: ObjectHash): string {
  return createHash(hash).update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}

/** Whether a directory of git's objects has one of this name, loose or in a pack. False where it cannot be read. */
export function hasObject(objects: string, name: string): boolean {
  try {
    if (existsSync(path.join(objects, name.slice(0, 2), name.slice(2)))) return true;
    const packs = path.join(objects, 'pack');
    return readdirSync(packs).some((one) => one.endsWith('.idx') && isInIndex(path.join(packs, one), name));
  } catch {
    return false;
  }
}

/** Version 2 of git's Documentation/gitformat-pack: a header, 256 counts, and the sorted names. Version 1 is not read. */
function isInIndex(file: string, name: string): boolean {
  const wanted = Buffer.from(name, 'hex');
  const descriptor = openSync(file, 'r');
  try {
    const head = readAt(descriptor, 0, HEADER + COUNTS);
    if (head.length < HEADER + COUNTS || head.readUInt32BE(0) !== MAGIC || head.readUInt32BE(4) !== 2) return false;
    const first = wanted[0] as number;
    const from = first === 0 ? 0 : head.readUInt32BE(HEADER + (first - 1) * 4);
    const to = head.readUInt32BE(HEADER + first * 4);
    const size = (to - from) * wanted.length;
    if (size <= 0 || size > fstatSync(descriptor).size) return false;
    const names = readAt(descriptor, HEADER + COUNTS + from * wanted.length, size);
    for (let at = names.indexOf(wanted); at >= 0; at = names.indexOf(wanted, at + 1))
      if (at % wanted.length === 0) return true;
    return false;
  } finally {
    closeSync(descriptor);
  }
}

const MAGIC = 0xff_74_4f_63;
const HEADER = 8;
const COUNTS = 256 * 4;

function readAt(descriptor: number, from: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(descriptor, bytes, 0, length, from));
}

import { createHash } from 'node:crypto';
import { decodeBytes } from '../text/path.ts';
import { type IndexEntry, padded, readIndex } from './index-entries.ts';

const ASSUME_VALID = 0x8000;
const EXTENDED = 0x4000;
const STAGE = 0x3000;
const SKIP_WORKTREE = 0x4000;
/** These name places in the list of entries, which moves. git reads an index without them. */
const OF_PLACES = ['EOIE', 'IEOT'];

/** How a work tree lacks a file that git tracks there. */
export type Lack = 'absent' | 'empty';

/**
 * An index file of git in which every entry that the work tree lacks is marked, so that `git add -A`, `commit -a` and
 * `status` pass over it: skip-worktree, and assume-unchanged as well for a file that is there without its content, because
 * git takes the first mark away from a file that is there in a sparse checkout. Entries in conflict stay as they are.
 * Undefined where not all entries are in this file (a split index) or it cannot be read.
 */
export function markIndex(
  index: Buffer,
  lackOf: (path: string) => Lack | undefined,
  objectNameBytes: 20 | 32 = 20,
): Buffer | undefined {
  const version = index.length < 12 ? 0 : index.readUInt32BE(4);
  const pieces: Buffer[] = [];
  let hasMarks = false;
  const end = readIndex(index, objectNameBytes, (entry) => {
    const flags = index.readUInt16BE(entry.flagsAt);
    // A directory in place of its files (a sparse index) is marked already.
    const isFile = entry.name.at(-1) !== 0x2f;
    const lack = isFile && (flags & STAGE) === 0 ? lackOf(decodeBytes(entry.name)) : undefined;
    hasMarks ||= lack !== undefined;
    pieces.push(lack === undefined ? index.subarray(entry.start, entry.end) : marked(index, entry, version, lack));
  });
  if (end === undefined) return undefined;
  const extensions = extensionsOf(index, end, objectNameBytes);
  if (extensions === undefined) return undefined;
  if (!hasMarks) return index;
  const head = Buffer.from(index.subarray(0, 12));
  // Version 2 has no room for the mark.
  if (version === 2) head.writeUInt32BE(3, 4);
  const body = Buffer.concat([head, ...pieces, ...extensions]);
  return Buffer.concat([body, checksum(index, body, objectNameBytes)]);
}

function marked(index: Buffer, entry: IndexEntry, version: number, lack: Lack): Buffer {
  const { start, flagsAt, isExtended, nameAt, name, end } = entry;
  const flags = Buffer.alloc(4);
  const valid = lack === 'empty' ? ASSUME_VALID : 0;
  flags.writeUInt16BE(index.readUInt16BE(flagsAt) | EXTENDED | valid);
  flags.writeUInt16BE((isExtended ? index.readUInt16BE(flagsAt + 2) : 0) | SKIP_WORKTREE, 2);
  const stat = index.subarray(start, flagsAt);
  if (version === 4) return Buffer.concat([stat, flags, index.subarray(nameAt, end)]);
  const length = stat.length + flags.length + name.length;
  return Buffer.concat([stat, flags, name], padded(length));
}

/** The extensions that stay valid; undefined where they are damaged, or where one has entries in another file. */
function extensionsOf(index: Buffer, from: number, objectNameBytes: number): Buffer[] | undefined {
  const end = index.length - objectNameBytes;
  const kept: Buffer[] = [];
  let at = from;
  while (at + 8 <= end) {
    const name = index.toString('latin1', at, at + 4);
    const next = at + 8 + index.readUInt32BE(at + 4);
    if (name === 'link' || next > end) return undefined;
    if (!OF_PLACES.includes(name)) kept.push(index.subarray(at, next));
    at = next;
  }
  return at === end ? kept : undefined;
}

/** Zeros where the index has none (index.skipHash). */
function checksum(index: Buffer, body: Buffer, objectNameBytes: 20 | 32): Buffer {
  const former = index.subarray(index.length - objectNameBytes);
  if (former.every((byte) => byte === 0)) return former;
  return createHash(objectNameBytes === 32 ? 'sha256' : 'sha1')
    .update(body)
    .digest();
}

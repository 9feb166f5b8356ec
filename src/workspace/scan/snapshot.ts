import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { RunClaudeError } from '../../core/errors.ts';
import { isInDotGit } from '../../core/git/names.ts';
import { decodeBytes, encodeBytes, nameOfPath, parentPath } from '../../core/text/path.ts';
import {
  countFileRows,
  countRows,
  type Row,
  readRows,
  rowNamed,
  rowsOf,
  type Section,
  sameRow,
  sameSection,
  sectionAt,
} from './packed-directory.ts';

/**
 * Metadata of a tree at one moment: for each directory its entries, packed. Whether a directory is unchanged is one
 * comparison of bytes, and 200,000 entries load within milliseconds.
 */
export type Snapshot = Map<string, Section>;

// On the disk: the header as a line of JSON, then for each directory the lengths of its path and of its section, the
// path, and the section; each of them padded to eight bytes.

/** The snapshot in its form on the disk, in pieces; {@link loadSnapshot} reads it. */
export function* encodeSnapshot(header: object, snapshot: Snapshot): Generator<Uint8Array> {
  const json = encodeBytes(JSON.stringify(header));
  yield padded(Buffer.concat([json, Buffer.alloc(7 - (json.length % 8), ' '), Buffer.from('\n')]));
  for (const dir of [...snapshot.keys()].sort()) {
    const section = snapshot.get(dir) as Section;
    const name = encodeBytes(dir);
    const lengths = Buffer.from(Uint32Array.of(name.length, section.length).buffer);
    yield padded(Buffer.concat([lengths, name]));
    yield section;
  }
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((8 - (bytes.length % 8)) % 8)]);
}

/** Throws RunClaudeError RECORD_DAMAGED, and what opening the file throws. */
export function loadSnapshot(file: string): { header: unknown; snapshot: Snapshot } {
  const bytes = readShared(file);
  const header = headerOf(bytes);
  const snapshot: Snapshot = new Map();
  for (let at = bytes.indexOf(10) + 1; at < bytes.length; ) {
    if (at % 8 !== 0 || at + 8 > bytes.length) throw damaged();
    const [nameLength = 0, length = 0] = new Uint32Array(bytes.buffer, at, 2);
    const section = at + Math.ceil((8 + nameLength) / 8) * 8;
    const dir = decodeBytes(Buffer.from(bytes.subarray(at + 8, at + 8 + nameLength)));
    snapshot.set(dir, sectionAt(bytes.buffer, section));
    if (snapshot.get(dir)?.length !== length) throw damaged();
    at = section + length;
  }
  return { header, snapshot };
}

/**
 * Reads the directories of a snapshot on the disk one after the other, with only a piece of the file in memory; those
 * that are not `wanted` are skipped. Throws as {@link loadSnapshot}.
 */
export function* readSections(file: string, wanted: (dir: string) => boolean): Generator<[string, Section]> {
  const fd = openSync(file, 'r');
  try {
    const { size } = fstatSync(fd);
    let window = readWindow(fd, 0, Math.min(size, WINDOW_BYTES));
    while (!window.includes(10) && window.length < size) window = readWindow(fd, 0, Math.min(size, window.length * 2));
    let [start, at] = [0, window.indexOf(10) + 1];
    if (at === 0) throw damaged();
    const need = (length: number): void => {
      if (at + length <= window.length) return;
      if (start + at + length > size) throw damaged();
      start += at;
      at = 0;
      window = readWindow(fd, start, Math.min(size - start, Math.max(length, WINDOW_BYTES)));
    };
    while (start + at < size) {
      need(8);
      const [nameLength = 0, length = 0] = new Uint32Array(window.buffer, at, 2);
      const head = Math.ceil((8 + nameLength) / 8) * 8;
      need(head + length);
      const dir = decodeBytes(window.subarray(at + 8, at + 8 + nameLength));
      if (wanted(dir)) yield [dir, sectionAt(window.buffer, at + head)];
      at += head + length;
    }
  } finally {
    closeSync(fd);
  }
}

const WINDOW_BYTES = 1 << 20;

function readWindow(fd: number, from: number, length: number): Buffer {
  // Its own buffer, so that numbers in it are aligned and can be read in place.
  const window = Buffer.from(new ArrayBuffer(length));
  for (let at = 0; at < length; ) {
    const count = readSync(fd, window, at, length - at, from + at);
    if (count === 0) throw damaged();
    at += count;
  }
  return window;
}

/** The header of a snapshot on the disk. Throws as {@link loadSnapshot}. */
export function loadHeader(file: string): unknown {
  const start = readShared(file, HEADER_BYTES);
  return headerOf(start.includes(10) ? start : readShared(file));
}

/** Most headers are shorter. */
const HEADER_BYTES = 1 << 16;

function headerOf(bytes: Buffer): unknown {
  const end = bytes.indexOf(10);
  try {
    if (end < 0) throw new Error('it has no first line');
    return JSON.parse(decodeBytes(Buffer.from(bytes.subarray(0, end))));
  } catch (cause) {
    throw damaged(cause);
  }
}

function readShared(file: string, max = Number.POSITIVE_INFINITY): Buffer & { readonly buffer: SharedArrayBuffer } {
  const fd = openSync(file, 'r');
  try {
    const bytes = Buffer.from(new SharedArrayBuffer(Math.min(fstatSync(fd).size, max)));
    for (let at = 0; at < bytes.length; ) {
      const length = readSync(fd, bytes, at, bytes.length - at, at);
      if (length === 0) throw damaged();
      at += length;
    }
    return bytes as Buffer & { readonly buffer: SharedArrayBuffer };
  } finally {
    closeSync(fd);
  }
}

function damaged(cause?: unknown): RunClaudeError {
  return new RunClaudeError('RECORD_DAMAGED', 'the base has a damaged manifest', { cause });
}

/** One entry that differs. It is new where `from` is undefined, and deleted where `to` is. */
export interface Difference {
  readonly path: string;
  readonly from: Row | undefined;
  readonly to: Row | undefined;
}

/** Differences that are computed at each iteration: of a first copy there is one for each file. */
export interface Differences extends Iterable<Difference> {
  readonly any: boolean;
  /** How many files are new or differ. */
  files(): number;
}

/** What turns `old` into `now`, parents before children. A directory that went away is one difference. */
export function compareSnapshots(old: Snapshot, now: Snapshot): Differences {
  const dirs: string[] = [];
  for (const [dir, section] of now) if (!sameSection(old.get(dir), section)) dirs.push(dir);
  return {
    any: dirs.some((dir) => old.get(dir) !== undefined || countRows(now.get(dir) as Section) > 0),
    files() {
      let count = 0;
      for (const dir of dirs) {
        const before = old.get(dir);
        if (before === undefined) count += countFileRows(now.get(dir) as Section);
        else for (const { to } of compareDirectory(dir, before, now.get(dir))) count += to?.kind === 'f' ? 1 : 0;
      }
      return count;
    },
    *[Symbol.iterator]() {
      for (const dir of dirs) yield* compareDirectory(dir, old.get(dir), now.get(dir));
    },
  };
}

function* compareDirectory(dir: string, before: Section | undefined, after: Section | undefined) {
  const was = readRows(before);
  const prefix = dir === '' ? '' : `${dir}/`;
  if (was.size > 0) {
    const is = readRows(after);
    for (const [name, from] of was) if (!is.has(name)) yield { path: prefix + name, from, to: undefined };
  }
  for (const to of rowsOf(after)) {
    const from = was.get(to.name);
    if (from === undefined || !sameRow(from, to)) yield { path: prefix + to.name, from, to };
  }
}

/** The row of a path; the root has none. */
export function rowAt(snapshot: Snapshot, one: string): Row | undefined {
  return rowNamed(snapshot.get(parentPath(one)), nameOfPath(one));
}

/** Number of entries of the project itself: entries of a `.git` do not count, as their deletions don't. */
export function countEntries(snapshot: Snapshot): number {
  let count = 0;
  for (const [dir, section] of snapshot) if (!isInDotGit(dir)) count += countRows(section);
  return count;
}

import { RunClaudeError } from '../../core/errors.ts';
import { decodeBytes, encodeBytes } from '../../core/text/path.ts';
import { FIELDS, KIND_LETTERS, NAMES_AT, packHead, packSection, sectionLength } from './section-layout.ts';

/** The entries of one directory, packed: two sections are equal when their bytes are. Threads share their memory. */
export type Section = Uint8Array;

/** f: file, d: directory, l: symbolic link, m: masked file, g: git's configuration, pointer or index, rewritten for the copy. */
export type RowKind = 'f' | 'd' | 'l' | 'm' | 'g';

/** One entry as lstat reports it. Equal rows mean an unchanged entry: no program can set a change time back. */
export interface Row {
  readonly name: string;
  readonly kind: RowKind;
  readonly mode: number;
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly ino: number;
  readonly dev: number;
  /** Of an index that is rewritten: a number of what it is rewritten by. */
  readonly nlink: number;
}

/**
 * The section that begins at an offset.
 *
 * @throws {RunClaudeError} RECORD_DAMAGED when it ends behind the buffer
 */
export function sectionAt(buffer: ArrayBufferLike, at: number): Section {
  if (at % 8 === 0 && at + NAMES_AT <= buffer.byteLength) {
    const [count = 0, namesLength = 0] = new Uint32Array(buffer, at, 2);
    const length = sectionLength(count, namesLength);
    if (at + length <= buffer.byteLength) return new Uint8Array(buffer, at, length);
  }
  throw new RunClaudeError('RECORD_DAMAGED', 'the base has a damaged manifest');
}

/** The number of rows, without reading them. */
export function countRows(section: Section): number {
  return new Uint32Array(section.buffer, section.byteOffset, 1)[0] as number;
}

/** The number of rows that are regular files. */
export function countFileRows(section: Section): number {
  const numbers = numbersOf(section);
  let count = 0;
  for (let at = 0; at < numbers.length; at += FIELDS) count += kindOf(numbers[at] as number) === 'f' ? 1 : 0;
  return count;
}

/** How many rows are regular files, and the sum of their sizes. */
export function fileTotals(section: Section): { readonly files: number; readonly bytes: number } {
  const numbers = numbersOf(section);
  let files = 0;
  let bytes = 0;
  for (let at = 0; at < numbers.length; at += FIELDS) {
    if (kindOf(numbers[at] as number) !== 'f') continue;
    files += 1;
    bytes += numbers[at + 1] as number;
  }
  return { files, bytes };
}

/** Rows of one directory, in the order of the walk. */
export function* rowsOf(section: Section | undefined): Generator<Row> {
  if (section === undefined || countRows(section) === 0) return;
  const [names, numbers] = [namesOf(section), numbersOf(section)];
  for (const [i, name] of names.entries()) yield unpackRow(name, numbers, i);
}

function unpackRow(name: string, numbers: Float64Array, index: number): Row {
  const field = (offset: number): number => numbers[index * FIELDS + offset] as number;
  const head = field(0);
  return {
    name,
    kind: kindOf(head),
    mode: head % 4096,
    size: field(1),
    mtimeMs: field(2),
    ctimeMs: field(3),
    ino: field(4),
    dev: field(5),
    nlink: Math.floor(head / 32_768),
  };
}

function kindOf(head: number): RowKind {
  return KIND_LETTERS[Math.floor(head / 4096) % 8] as RowKind;
}

function numbersOf(section: Section): Float64Array {
  const length = countRows(section) * FIELDS;
  return new Float64Array(section.buffer, section.byteOffset + section.length - length * 8, length);
}

/** Names of one directory, in the order of the walk. */
function namesOf(section: Section): string[] {
  const length = new Uint32Array(section.buffer, section.byteOffset, 2)[1];
  // TextDecoder does not read shared memory: the names are copied.
  const names = Buffer.from(new Uint8Array(section.buffer, section.byteOffset + NAMES_AT, length));
  return decodeBytes(names).split('/');
}

/** Rows of one directory, by name. */
export function readRows(section: Section | undefined): Map<string, Row> {
  const rows = new Map<string, Row>();
  for (const row of rowsOf(section)) rows.set(row.name, row);
  return rows;
}

/** The row with that name, if there is one. */
export function rowNamed(section: Section | undefined, name: string): Row | undefined {
  if (section === undefined || countRows(section) === 0) return undefined;
  const index = namesOf(section).indexOf(name);
  return index < 0 ? undefined : unpackRow(name, numbersOf(section), index);
}

/** Packs rows as a section, in memory that threads can share. */
export function packRows(rows: readonly Row[]): Section {
  const names = encodeBytes(rows.map((row) => row.name).join('/'));
  const into = new SharedArrayBuffer(sectionLength(rows.length, names.length));
  const numbers = rows.flatMap((row) => [
    packHead(row.mode, row.kind, row.nlink),
    row.size,
    row.mtimeMs,
    row.ctimeMs,
    row.ino,
    row.dev,
  ]);
  packSection(into, 0, names, Float64Array.from(numbers));
  return new Uint8Array(into);
}

/** Whether both rows describe the same entry, unchanged. */
export function sameRow(a: Row, b: Row): boolean {
  return (Object.keys(a) as Array<keyof Row>).every((key) => a[key] === b[key]);
}

/** Whether both sections have the same rows in the same order. */
export function sameSection(a: Section | undefined, b: Section | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && Buffer.compare(a, b) === 0);
}

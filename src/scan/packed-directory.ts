import { RunClaudeError } from '../errors.ts';
import { decodeBytes, encodeBytes } from '../text/path.ts';

/** The entries of one directory, packed: two of them are equal when their bytes are. Threads share them. */
export type Section = Uint8Array;

/** f: file, d: directory, l: link, m: masked file, g: git's configuration or pointer, rewritten on the way in. */
export type RowKind = 'f' | 'd' | 'l' | 'm' | 'g';

/** One entry as lstat told it; equal rows mean an unchanged entry (the change time can't be set back). */
export interface Row {
  readonly name: string;
  readonly kind: RowKind;
  readonly mode: number;
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly ino: number;
  readonly dev: number;
  readonly nlink: number;
}

/** The layout of sections. Runs in workers too, from its own text: so it may use nothing but its arguments. */
export function makePacker() {
  /** Order of the kinds in {@link packHead}. */
  const kinds = 'fdlmg';
  /** Numbers of an entry: head, size, mtimeMs, ctimeMs, ino, dev. */
  const fields = 6;
  const startBytes = 8;
  /** Count of entries and length of the names, the names with '/' between, then the numbers, readable in place. */
  const length = (count: number, namesLength: number): number =>
    startBytes + Math.ceil(namesLength / 8) * 8 + count * fields * 8;
  return {
    kinds,
    fields,
    startBytes,
    length,
    /** Mode, kind and link count in one number. */
    head: (mode: number, kind: string, nlink: number): number => mode + 4096 * (kinds.indexOf(kind) + 8 * nlink),
    /** One section at that place; `numbers` has its fields for each entry. */
    pack(into: SharedArrayBuffer, at: number, names: Uint8Array, numbers: Float64Array): void {
      const count = numbers.length / fields;
      new Uint32Array(into, at, 2).set([count, names.length]);
      new Uint8Array(into).set(names, at + startBytes);
      new Float64Array(into, at + length(count, names.length) - numbers.length * 8, numbers.length).set(numbers);
    },
  };
}

const packer = makePacker();
const { kinds, fields, startBytes } = packer;

/** The section that begins there. Throws RunClaudeError RECORD_DAMAGED when it does not end in time. */
export function sectionAt(buffer: ArrayBufferLike, at: number): Section {
  if (at % 8 === 0 && at + startBytes <= buffer.byteLength) {
    const [count = 0, namesLength = 0] = new Uint32Array(buffer, at, 2);
    const length = packer.length(count, namesLength);
    if (at + length <= buffer.byteLength) return new Uint8Array(buffer, at, length);
  }
  throw new RunClaudeError('RECORD_DAMAGED', 'the base has a damaged manifest');
}

/** How many rows it has, without a look at them. */
export function countRows(section: Section): number {
  return new Uint32Array(section.buffer, section.byteOffset, 1)[0] as number;
}

/** Of them, the regular files. */
export function countFiles(section: Section): number {
  const numbers = numbersOf(section);
  let count = 0;
  for (let at = 0; at < numbers.length; at += fields) count += kindOf(numbers[at] as number) === 'f' ? 1 : 0;
  return count;
}

/** Rows of one directory, in the order of the walk. */
export function* rowsOf(section: Section | undefined): Generator<Row> {
  if (section === undefined || countRows(section) === 0) return;
  const [names, numbers] = [namesOf(section), numbersOf(section)];
  for (const [i, name] of names.entries()) yield unpackRow(name, numbers, i);
}

function unpackRow(name: string, numbers: Float64Array, index: number): Row {
  const field = (offset: number): number => numbers[index * fields + offset] as number;
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
  return kinds[Math.floor(head / 4096) % 8] as RowKind;
}

function numbersOf(section: Section): Float64Array {
  const length = countRows(section) * fields;
  return new Float64Array(section.buffer, section.byteOffset + section.length - length * 8, length);
}

/** Names of one directory, in the order of the walk. */
function namesOf(section: Section): string[] {
  const length = new Uint32Array(section.buffer, section.byteOffset, 2)[1];
  // A decoder takes no memory that threads share: copied.
  const names = Buffer.from(new Uint8Array(section.buffer, section.byteOffset + startBytes, length));
  return decodeBytes(names).split('/');
}

/** As {@link rowsOf}, by name. */
export function readRows(section: Section | undefined): Map<string, Row> {
  const rows = new Map<string, Row>();
  for (const row of rowsOf(section)) rows.set(row.name, row);
  return rows;
}

/** The row of that name, if there is one. */
export function rowNamed(section: Section | undefined, name: string): Row | undefined {
  if (section === undefined || countRows(section) === 0) return undefined;
  const index = namesOf(section).indexOf(name);
  return index < 0 ? undefined : unpackRow(name, numbersOf(section), index);
}

/** The rows as a section of their own, which threads can share. */
export function packRows(rows: readonly Row[]): Section {
  const names = encodeBytes(rows.map((row) => row.name).join('/'));
  const into = new SharedArrayBuffer(packer.length(rows.length, names.length));
  const numbers = rows.flatMap((row) => [
    packer.head(row.mode, row.kind, row.nlink),
    row.size,
    row.mtimeMs,
    row.ctimeMs,
    row.ino,
    row.dev,
  ]);
  packer.pack(into, 0, names, Float64Array.from(numbers));
  return new Uint8Array(into);
}

/** The same entry, unchanged. */
export function sameRow(a: Row, b: Row): boolean {
  return (Object.keys(a) as Array<keyof Row>).every((key) => a[key] === b[key]);
}

/** The same rows in the same order, unchanged. */
export function sameSection(a: Section | undefined, b: Section | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && Buffer.compare(a, b) === 0);
}

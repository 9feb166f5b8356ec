import { RunClaudeError } from '../errors.ts';
import { decodeBytes, encodeBytes } from '../types/path.ts';

/**
 * Metadata of a tree at one moment: for each directory the rows of its entries. Kept as text, since the usual question,
 * "is this directory as it was", is then one comparison and 200,000 entries load in no time.
 */
export type Snapshot = Map<string, string>;

/** f: file, d: directory, l: link, m: masked file, g: git configuration that is rewritten on the way in. */
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

/** '/' and NUL are the two bytes that no name has. */
export function writeRow(row: Row): string {
  const { name, kind, mode, size, mtimeMs, ctimeMs, ino, dev, nlink } = row;
  return `${name}/${kind}/${mode}/${size}/${mtimeMs}/${ctimeMs}/${ino}/${dev}/${nlink}`;
}

/** Rows of one directory's text, by name. */
export function readRows(text: string | undefined): Map<string, Row> {
  const rows = new Map<string, Row>();
  if (text === undefined || text === '') return rows;
  for (const line of text.split('\0')) {
    const part = line.split('/');
    const number = (at: number): number => Number(part[at]);
    rows.set(part[0] as string, {
      name: part[0] as string,
      kind: part[1] as RowKind,
      mode: number(2),
      size: number(3),
      mtimeMs: number(4),
      ctimeMs: number(5),
      ino: number(6),
      dev: number(7),
      nlink: number(8),
    });
  }
  return rows;
}

/** For the disk; {@link decodeSnapshot} gives it back. */
export function encodeSnapshot(header: object, snapshot: Snapshot): Buffer {
  const parts = [JSON.stringify(header)];
  for (const [dir, rows] of snapshot) parts.push(rows === '' ? `./${dir}` : `./${dir}\0${rows}`);
  return encodeBytes(parts.join('\0\0'));
}

/** Throws RunClaudeError RECORD_DAMAGED. */
export function decodeSnapshot(bytes: Buffer): { header: unknown; snapshot: Snapshot } {
  const parts = decodeBytes(bytes).split('\0\0');
  const snapshot: Snapshot = new Map();
  try {
    const header: unknown = JSON.parse(parts[0] as string);
    for (const part of parts.slice(1)) {
      const cut = part.indexOf('\0');
      snapshot.set(part.slice(2, cut < 0 ? undefined : cut), cut < 0 ? '' : part.slice(cut + 1));
    }
    return { header, snapshot };
  } catch (cause) {
    throw new RunClaudeError('RECORD_DAMAGED', 'the base has a damaged manifest', { cause });
  }
}

/** As {@link decodeSnapshot}, without its entries. */
export function decodeHeader(bytes: Buffer): unknown {
  const end = bytes.indexOf('\0\0');
  return JSON.parse(decodeBytes(end < 0 ? bytes : bytes.subarray(0, end)));
}

/** One entry that differs: from undefined is new, to undefined is gone. */
export interface Difference {
  readonly path: string;
  readonly from: Row | undefined;
  readonly to: Row | undefined;
}

/** What turns `old` into `now`, parents before children. A directory that went away is one difference. */
export function compareSnapshots(old: Snapshot, now: Snapshot): Difference[] {
  const differences: Difference[] = [];
  for (const [dir, text] of now) {
    const before = old.get(dir);
    if (before === text) continue;
    const [was, is] = [readRows(before), readRows(text)];
    const prefix = dir === '' ? '' : `${dir}/`;
    for (const [name, from] of was) if (!is.has(name)) differences.push({ path: prefix + name, from, to: undefined });
    for (const [name, to] of is) {
      const from = was.get(name);
      if (from === undefined || writeRow(from) !== writeRow(to)) differences.push({ path: prefix + name, from, to });
    }
  }
  return differences;
}

/** Entries of the project itself: what lies in a `.git` does not count, as its deletions don't. */
export function countEntries(snapshot: Snapshot): number {
  let count = 0;
  for (const [dir, rows] of snapshot) {
    if (rows === '' || dir.split('/').includes('.git')) continue;
    count++;
    for (let at = rows.indexOf('\0'); at >= 0; at = rows.indexOf('\0', at + 1)) count++;
  }
  return count;
}

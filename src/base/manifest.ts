import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { removeTreeSync } from '../host/remove-tree.ts';
import { packRows, type Row, rowsOf } from '../scan/packed-directory.ts';
import { type Difference, loadSnapshot, type Snapshot } from '../scan/snapshot.ts';
import { fsPath } from '../scan/walk.ts';
import { readJson, writeJsonAtomic } from '../store/record.ts';
import { parentPath } from '../text/path.ts';
import type { Problem } from '../types/entry.ts';
import type { Tell } from '../types/event.ts';
import type { Owner } from './refresh.ts';

/** First line of a generation's manifest. */
export interface Header {
  /** 2: on macOS the targets of symbolic links may be in the tree instead of the links. */
  readonly version: 3;
  readonly bootId: string;
  /** Names this state of the tree; `gen/N/synced` holds it once everything is surely on the disk. */
  readonly state: string;
  readonly owner: Owner | null;
  readonly project: string;
  /** Of the tree itself, which stands in no directory's list. */
  readonly root: RootState;
  /** Left out as unreadable, with the reason: rows that the tree does not have. */
  readonly unreadable: readonly Problem[];
  readonly dropped: readonly string[];
}

export type RootState = Pick<Row, 'mode' | 'mtimeMs'>;

/** A generation's manifest as it was read. */
export interface Loaded {
  readonly header: Header;
  readonly snapshot: Snapshot;
}

/** What this start wants of a header. */
export type WantedHeader = Omit<Header, 'unreadable' | 'dropped' | 'state' | 'root'>;

/** Undefined when there is none that can be read. */
export function loadManifest(gen: string, tell: Tell): Loaded | undefined {
  try {
    const { header, snapshot } = loadSnapshot(path.join(gen, 'manifest'));
    return { header: header as Header, snapshot };
  } catch (error) {
    tell({ kind: 'trace', text: `${gen} is made anew: ${(error as Error).message}` });
    return undefined;
  }
}

/**
 * What a generation holds, undefined when it is to be made anew: of another owner, damaged, or written before a boot
 * (a power cut may have taken what was never forced to the disk).
 */
export function usable(gen: string, { header, snapshot }: Loaded, wanted: WantedHeader): Loaded | undefined {
  const safe = header.bootId === wanted.bootId || syncedState(gen) === header.state;
  if (!safe || header.version !== wanted.version || header.project !== wanted.project) return undefined;
  if (JSON.stringify(header.owner) !== JSON.stringify(wanted.owner)) return undefined;
  return { header, snapshot: recover(gen, snapshot) };
}

/** After a crash: what was under way is taken away and forgotten, so that the next comparison brings it back. */
function recover(gen: string, snapshot: Snapshot): Snapshot {
  const journal = readJson(path.join(gen, 'journal')) as readonly JournalLine[] | undefined;
  if (journal === undefined) return snapshot;
  for (const { path: one, directory } of journal)
    if (!directory) removeTreeSync(fsPath(`${gen}/tree/${one}`), { opensParent: true });
  return forget(snapshot, journal);
}

export interface JournalLine {
  readonly path: string;
  /** A directory that stays: only its mode and times were to change. */
  readonly directory: boolean;
}

/** To be written before the tree is touched. */
export function writeJournal(gen: string, differences: Iterable<Difference>): void {
  const lines = Array.from(
    differences,
    ({ path: one, from, to }): JournalLine => ({ path: one, directory: from?.kind === 'd' && to?.kind === 'd' }),
  );
  writeJsonAtomic(path.join(gen, 'journal'), lines);
}

/** The snapshot without these paths and what is below them; a directory that stays gets an impossible time. */
export function forget(snapshot: Snapshot, lines: readonly JournalLine[]): Snapshot {
  const rest = new Map(snapshot);
  const inParent = new Map<string, Map<string, JournalLine>>();
  for (const line of lines) {
    const parent = parentPath(line.path);
    const named = inParent.get(parent) ?? new Map<string, JournalLine>();
    inParent.set(parent, named.set(line.path.slice(line.path.lastIndexOf('/') + 1), line));
  }
  const gone = new Set<string>();
  for (const [parent, named] of inParent) {
    const section = snapshot.get(parent);
    if (section === undefined) continue;
    const rows = [...rowsOf(section)].flatMap((row) => {
      const line = named.get(row.name);
      if (line === undefined) return [row];
      if (line.directory) return [{ ...NO_ROW, name: row.name }];
      if (snapshot.has(line.path)) gone.add(line.path);
      return [];
    });
    rest.set(parent, packRows(rows));
  }
  if (gone.size > 0) for (const dir of snapshot.keys()) if (isWithin(dir, gone)) rest.delete(dir);
  return rest;
}

/** Whether the directory is one of these or below one. */
function isWithin(dir: string, these: ReadonlySet<string>): boolean {
  for (let one = dir; one !== ''; one = parentPath(one)) if (these.has(one)) return true;
  return false;
}

/** What was said of entries that are not as they were: it is said anew, if it still holds. */
export function forgetRemarks(
  differences: Iterable<Difference>,
  unreadable: Map<string, Problem>,
  dropped: Map<string, string>,
): void {
  for (const { path: one, from, to } of differences) {
    unreadable.delete(one);
    const config = from?.kind === 'g' || to?.kind === 'g';
    const start = config ? `${one}: ` : from?.kind === 'd' && to?.kind !== 'd' ? `${one}/` : undefined;
    if (start === undefined) continue;
    for (const line of dropped.keys()) if (line.startsWith(start)) dropped.delete(line);
  }
}

const NO_ROW = { kind: 'd', mode: 0, size: 0, mtimeMs: 0, ctimeMs: 0, ino: 0, dev: 0, nlink: 1 } as const;

/** The state that was surely on the disk. */
export function syncedState(gen: string): string | undefined {
  const file = path.join(gen, 'synced');
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

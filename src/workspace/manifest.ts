import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { readJson, writeJsonAtomic } from '../store/record.ts';
import type { Problem } from '../types/entry.ts';
import type { Tell } from '../types/event.ts';
import type { Owner } from './refresh.ts';
import { removeShared } from './remove-shared.ts';
import { packRows, rowsOf } from './section.ts';
import { type Difference, loadSnapshot, type Snapshot } from './snapshot.ts';
import { parentOf } from './walk.ts';

/** First line of a generation's manifest. */
export interface Header {
  readonly version: 2;
  readonly bootId: string;
  /** Names this state of the tree; `gen/N/synced` holds it once everything is surely on the disk. */
  readonly state: string;
  readonly owner: Owner | null;
  readonly project: string;
  /** Left out as unreadable, with the reason: rows that the tree does not have. */
  readonly unreadable: readonly Problem[];
  readonly dropped: readonly string[];
}

/** A generation's manifest as it was read. */
export interface Loaded {
  readonly header: Header;
  readonly snapshot: Snapshot;
}

/** What this start wants of a header. */
export type WantedHeader = Omit<Header, 'unreadable' | 'dropped' | 'state'>;

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
  for (const { path: one, directory } of journal) if (!directory) removeShared(path.join(gen, 'tree'), one);
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
  for (const { path: one, directory } of lines) {
    const dir = parentOf(one);
    const name = one.slice(dir === '' ? 0 : dir.length + 1);
    const rows = [...rowsOf(rest.get(dir))];
    const kept = rows.filter((row) => row.name !== name);
    if (kept.length === rows.length) continue;
    rest.set(dir, packRows(directory ? [...kept, { ...NO_ROW, name }] : kept));
    if (directory || !rest.has(one)) continue;
    for (const below of [...rest.keys()]) if (below === one || below.startsWith(`${one}/`)) rest.delete(below);
  }
  return rest;
}

const NO_ROW = { kind: 'd', mode: 0, size: 0, mtimeMs: 0, ctimeMs: 0, ino: 0, dev: 0, nlink: 1 } as const;

/** The state that was surely on the disk. */
export function syncedState(gen: string): string | undefined {
  const file = path.join(gen, 'synced');
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

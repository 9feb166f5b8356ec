import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { RunClaudeError } from '../../../core/errors.ts';
import { removeTreeSync } from '../../../core/host/files/remove-tree.ts';
import type { Decoy } from '../../../core/secrets/decoy.ts';
import { readJson, writeJsonAtomic } from '../../../core/store/record.ts';
import { nameOfPath, parentPath, parseRelPath } from '../../../core/text/path.ts';
import type { Problem } from '../../../core/types/entry.ts';
import type { Tell } from '../../../core/types/event.ts';
import { packRows, type Row, rowsOf } from '../../scan/packed-directory.ts';
import { type Difference, loadHeader, loadSnapshot, type Snapshot } from '../../scan/snapshot.ts';
import { fsPath } from '../../scan/walk.ts';
import type { FoundSecrets } from '../../secrets/find-secrets.ts';
import type { Owner } from '../refresh/touched-directories.ts';

/**
 * Format of a generation: its manifest, journal and tree. A generation of another format is made anew. Earlier formats:
 * 1, a manifest of lines of text; 2, on macOS the targets of symbolic links may be in the tree instead of the links.
 */
export const GENERATION_FORMAT = 3;

/** First line of a generation's manifest. */
export interface Header {
  readonly version: typeof GENERATION_FORMAT;
  readonly bootId: string;
  /** Names this state of the tree; `gen/N/synced` holds it once everything was forced to the disk. */
  readonly state: string;
  readonly owner: Owner | null;
  readonly project: string;
  /** Of the tree's root, which is in no directory's list. */
  readonly root: RootState;
  /** Left out as unreadable, with the reason: rows that the tree does not have. */
  readonly unreadable: readonly Problem[];
  readonly dropped: readonly string[];
  /** Earlier releases looked for no secrets. */
  readonly secrets?: HeaderSecrets;
}

/** What the scan for secrets found, and the decoys that the tree has. */
export interface HeaderSecrets extends FoundSecrets {
  readonly decoys: readonly Decoy[];
}

export type RootState = Pick<Row, 'mode' | 'mtimeMs'>;

/** A generation's manifest as it was read. */
export interface Loaded {
  readonly header: Header;
  readonly snapshot: Snapshot;
}

/** What this start requires of a header. */
export type WantedHeader = Omit<Header, 'unreadable' | 'dropped' | 'state' | 'root' | 'secrets'>;

/** The earlier scan of a generation, from which the next one goes on. */
export const knownSecrets = ({ header, snapshot }: Loaded) => ({ snapshot, found: header.secrets });

/** Undefined when the manifest is missing, damaged or of another format. */
export function loadManifest(gen: string, tell: Tell): Loaded | undefined {
  try {
    const file = path.join(gen, 'manifest');
    // Before the rest, whose form it tells.
    const header = parseHeader(loadHeader(file));
    return { header, snapshot: loadSnapshot(file).snapshot };
  } catch (error) {
    tell({ kind: 'trace', text: `${gen} is made anew: ${(error as Error).message}` });
    return undefined;
  }
}

/** The header of a generation's manifest; undefined when it is missing, damaged or of another format. */
export function readHeader(gen: string): Header | undefined {
  try {
    return parseHeader(loadHeader(path.join(gen, 'manifest')));
  } catch {
    return undefined;
  }
}

/** @throws {RunClaudeError} RECORD_DAMAGED when it is not a header of this format */
function parseHeader(value: unknown): Header {
  const header = (value ?? {}) as Partial<Record<keyof Header, unknown>>;
  const { version, bootId, state, owner, project, root, unreadable, dropped } = header;
  if (version !== GENERATION_FORMAT) throw damaged(`format ${String(version)} is not ${GENERATION_FORMAT}`);
  const isSound =
    [bootId, state, project].every((one) => typeof one === 'string') &&
    (owner === null || hasNumbers(owner, 'uid', 'gid')) &&
    hasNumbers(root, 'mode', 'mtimeMs') &&
    isListOf(unreadable, (one) => hasTexts(one, 'path', 'why')) &&
    isListOf(dropped, (one) => typeof one === 'string');
  if (!isSound) throw damaged('its header is damaged');
  const { secrets, ...others } = header as Header;
  // Without them everything is searched again.
  return hasSecrets(secrets) ? { ...others, secrets } : others;
}

function hasSecrets(value: unknown): value is HeaderSecrets {
  if (!isObject(value) || !hasNumbers(value, 'version')) return false;
  const isFile = (one: unknown): boolean => hasTexts(one, 'path', 'reason');
  return isListOf(value['files'], isFile) && isListOf(value['decoys'], (one) => hasTexts(one, 'path', 'value'));
}

function damaged(why: string): RunClaudeError {
  return new RunClaudeError('RECORD_DAMAGED', `a generation of the base cannot be used: ${why}`);
}

function hasNumbers(value: unknown, ...names: readonly string[]): boolean {
  return isObject(value) && names.every((name) => typeof value[name] === 'number');
}

function hasTexts(value: unknown, ...names: readonly string[]): boolean {
  return isObject(value) && names.every((name) => typeof value[name] === 'string');
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function isListOf(value: unknown, isOne: (one: unknown) => boolean): value is readonly unknown[] {
  return Array.isArray(value) && value.every(isOne);
}

/**
 * What a generation holds; undefined when it has to be made anew: it belongs to another owner, it is damaged, or it was
 * written before a boot (a power cut may have lost what was never forced to the disk).
 */
export function usable(gen: string, { header, snapshot }: Loaded, wanted: WantedHeader): Loaded | undefined {
  const safe = header.bootId === wanted.bootId || syncedState(gen) === header.state;
  if (!safe || header.version !== wanted.version || header.project !== wanted.project) return undefined;
  if (JSON.stringify(header.owner) !== JSON.stringify(wanted.owner)) return undefined;
  const recovered = recover(gen, snapshot);
  return recovered && { header, snapshot: recovered };
}

/**
 * After a crash: removes what a refresh may have left half done, and forgets it, so that the next comparison brings it
 * back. Undefined when the journal is damaged.
 */
function recover(gen: string, snapshot: Snapshot): Snapshot | undefined {
  const file = path.join(gen, 'journal');
  if (!existsSync(file)) return snapshot;
  const journal = readJournal(file);
  if (journal === undefined) return undefined;
  for (const { path: one, directory } of journal)
    if (!directory) removeTreeSync(fsPath(`${gen}/tree/${one}`), { opensParent: true });
  return forget(snapshot, journal);
}

export interface JournalLine {
  readonly path: string;
  /** A directory that stays: only its mode and times were to change. */
  readonly directory: boolean;
}

/** The format of the journal is that of its generation. */
function readJournal(file: string): readonly JournalLine[] | undefined {
  try {
    const lines = readJson(file);
    const isLine = (one: unknown): boolean =>
      isObject(one) && isPathInside(one['path']) && typeof one['directory'] === 'boolean';
    return isListOf(lines, isLine) ? (lines as readonly JournalLine[]) : undefined;
  } catch (error) {
    if (error instanceof RunClaudeError && error.code === 'RECORD_DAMAGED') return undefined;
    throw error;
  }
}

function isPathInside(value: unknown): boolean {
  return typeof value === 'string' && parseRelPath(value) !== undefined;
}

/** To be called before the tree is touched. */
export function writeJournal(gen: string, differences: Iterable<Difference>): void {
  const lines = Array.from(
    differences,
    ({ path: one, from, to }): JournalLine => ({ path: one, directory: from?.kind === 'd' && to?.kind === 'd' }),
  );
  writeJsonAtomic(path.join(gen, 'journal'), lines);
}

/** The snapshot without these paths and everything below them; a directory that stays gets an impossible time. */
export function forget(snapshot: Snapshot, lines: readonly JournalLine[]): Snapshot {
  const rest = new Map(snapshot);
  const inParent = new Map<string, Map<string, JournalLine>>();
  for (const line of lines) {
    const parent = parentPath(line.path);
    const named = inParent.get(parent) ?? new Map<string, JournalLine>();
    inParent.set(parent, named.set(nameOfPath(line.path), line));
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

/** Forgets the remarks on entries that differ: they are made again, if they still hold. */
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

/** The state that was last forced to the disk. */
export function syncedState(gen: string): string | undefined {
  const file = path.join(gen, 'synced');
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

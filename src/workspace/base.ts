import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { withLock } from '../store/lock.ts';
import { processIdentity } from '../store/process.ts';
import { makePrivateDir, readJson, writeFileAtomic, writeJsonAtomic } from '../store/record.ts';
import type { Problem } from '../types/entry.ts';
import type { Tell } from '../types/event.ts';
import { cloneGeneration, removeTree } from './generation.ts';
import { type Owner, parentOf, refreshTree } from './refresh.ts';
import type { Selection } from './selection.ts';
import {
  compareSnapshots,
  countEntries,
  type Difference,
  decodeHeader,
  decodeSnapshot,
  encodeSnapshot,
  type Snapshot,
  writeRow,
} from './snapshot.ts';
import { isIntact } from './verify.ts';
import { type Graft, type Walked, walkTree } from './walk.ts';

// A base is a directory of generations, each a private snapshot of the project:
//   gen/N/tree      the snapshot     gen/N/nonce     proves to the collector that it reads this one
//   gen/N/manifest  written last     gen/N/journal   what a refresh under way may have left half done
//   users/ID.json   sessions that stand on a generation, which then never changes

export interface BaseOptions {
  /** Of this project: `$XDG_CACHE_HOME/run-claude/bases/<16 hex>`. */
  readonly dir: string;
  readonly project: string;
  readonly grafts: ReadonlyMap<string, readonly Graft[]>;
  readonly selection: Selection;
  /** Who owns the files inside, when that is not us. */
  readonly owner: Owner | undefined;
  readonly sessionId: string;
  /** Of the session: its user file is void when this is gone. */
  readonly sessionDir: string;
  readonly verify: boolean;
  readonly tell: Tell;
  readonly signal?: AbortSignal;
}

export interface BaseGeneration {
  readonly dir: string;
  readonly entries: number;
  readonly leftOut: readonly Problem[];
  readonly withheld: readonly string[];
  readonly dropped: readonly string[];
}

interface Header {
  readonly version: 1;
  readonly bootId: string;
  /** Names this state of the tree; `gen/N/synced` holds it once everything is surely on the disk. */
  readonly state: string;
  readonly owner: Owner | null;
  readonly project: string;
  /** Left out as unreadable, with the reason: rows that the tree does not have. */
  readonly unreadable: readonly Problem[];
  readonly dropped: readonly string[];
}

const ROUNDS = 4;
const LOCK_WAIT_MS = 30 * 60_000;

/**
 * A generation equal to the project, and the session entered as its user. One walk; only what differs is copied; what
 * a crash left half done is done again. Throws RunClaudeError LOCK_HELD, BASE_UNWRITABLE, PROJECT_UNREADABLE.
 */
export async function prepareBase(options: BaseOptions): Promise<BaseGeneration> {
  const { dir, tell } = options;
  makePrivateDir(path.join(dir, 'gen'));
  const waiting = (who: string): void =>
    tell({ kind: 'message', level: 'info', text: `Waiting for another session that reads this project: ${who}` });
  const lock = { what: 'bringing the private copy up to date', waitMs: LOCK_WAIT_MS, waiting };
  const withSignal = options.signal === undefined ? lock : { ...lock, signal: options.signal };
  return withLock(path.join(dir, 'lock'), withSignal, () => bringUpToDate(options));
}

async function bringUpToDate(options: BaseOptions): Promise<BaseGeneration> {
  const used = usedGenerations(options.dir);
  let current = newestGeneration(options.dir);
  sweepGenerations(options.dir, new Set([...used, ...(current === undefined ? [] : [current])]));
  let old = current === undefined ? undefined : loadGeneration(options, current);
  let walked = await walk(options);
  if (options.verify && old !== undefined && current !== undefined) {
    const tree = path.join(genDir(options.dir, current), 'tree');
    if (!(await isIntact(tree, old.snapshot, walked))) {
      options.tell({ kind: 'message', level: 'warning', text: 'The private copy was damaged; it is made anew.' });
      old = undefined;
    }
  }
  let differences = compareSnapshots(old?.snapshot ?? new Map(), walked.snapshot);
  if (old === undefined || current === undefined || (differences.length > 0 && used.has(current))) {
    const next = highestNumber(options.dir) + 1;
    await cloneGeneration(genDir(options.dir, current ?? 0), genDir(options.dir, next), old?.snapshot);
    current = next;
  }
  const gen = genDir(options.dir, current);
  const unreadable = new Map(old?.header.unreadable.map((one) => [one.path, one]) ?? []);
  const dropped = new Map(old?.header.dropped.map((line) => [line, line]) ?? []);
  let known: Snapshot = old?.snapshot ?? new Map();
  for (let round = 1; differences.length > 0 || !existsSync(path.join(gen, 'manifest')); round++) {
    writeJournal(gen, differences);
    const started = Date.now();
    const done = await refreshTree({
      tree: path.join(gen, 'tree'),
      walked,
      differences,
      owner: options.owner,
      tell: options.tell,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    for (const one of differences) unreadable.delete(one.path);
    for (const one of done.unreadable) unreadable.set(one.path, one);
    for (const line of done.dropped) dropped.set(line, line);
    known = forget(
      walked.snapshot,
      done.moved.map((one) => ({ path: one, directory: false })),
    );
    const state = randomBytes(8).toString('hex');
    const header: Header = {
      ...newHeader(options),
      state,
      unreadable: [...unreadable.values()],
      dropped: [...dropped.values()],
    };
    writeFileAtomic(path.join(gen, 'manifest'), encodeSnapshot(header, known), { durable: false });
    rmSync(path.join(gen, 'journal'), { force: true });
    // What was copied within a moment was walked a moment ago; otherwise the project is looked at again.
    if (done.moved.length === 0 && Date.now() - started < 1000) break;
    if (round === ROUNDS) {
      if (done.moved.length > 0) tellMoving(options.tell, done.moved);
      break;
    }
    walked = await walk(options);
    differences = compareSnapshots(known, walked.snapshot);
  }
  enterUser(options, current);
  const gone = [...unreadable.values()].filter((one) => rowExists(known, one.path));
  return {
    dir: gen,
    entries: countEntries(known),
    leftOut: [...walked.leftOut, ...gone],
    withheld: walked.withheld,
    dropped: [...dropped.values()],
  };
}

function walk(options: BaseOptions): Promise<Walked> {
  const { project: root, grafts, selection, signal } = options;
  return walkTree({ root, grafts, selection, ...(signal === undefined ? {} : { signal }) });
}

function newHeader(options: BaseOptions): Omit<Header, 'unreadable' | 'dropped' | 'state'> {
  return { version: 1, bootId: processIdentity().bootId, owner: options.owner ?? null, project: options.project };
}

/**
 * What a generation holds, undefined when it is to be made anew: of another owner, damaged, or written before a boot
 * (a power cut may have taken what was never forced to the disk).
 */
function loadGeneration(options: BaseOptions, number: number): { header: Header; snapshot: Snapshot } | undefined {
  const gen = genDir(options.dir, number);
  let loaded: { header: unknown; snapshot: Snapshot };
  try {
    loaded = decodeSnapshot(readFileSync(path.join(gen, 'manifest')));
  } catch (error) {
    options.tell({ kind: 'trace', text: `base ${number} is made anew: ${(error as Error).message}` });
    return undefined;
  }
  const header = loaded.header as Header;
  const wanted = newHeader(options);
  const safe = header.bootId === wanted.bootId || syncedState(gen) === header.state;
  if (!safe || header.version !== 1 || header.project !== wanted.project) return undefined;
  if (JSON.stringify(header.owner) !== JSON.stringify(wanted.owner)) return undefined;
  return { header, snapshot: recover(gen, loaded.snapshot) };
}

/** After a crash: what was under way is taken away and forgotten, so that the next comparison brings it back. */
function recover(gen: string, snapshot: Snapshot): Snapshot {
  const journal = readJson(path.join(gen, 'journal')) as readonly JournalLine[] | undefined;
  if (journal === undefined) return snapshot;
  for (const { path: one, directory } of journal) if (!directory) removeTree(path.join(gen, 'tree'), one);
  return forget(snapshot, journal);
}

interface JournalLine {
  readonly path: string;
  /** A directory that stays: only its mode and times were to change. */
  readonly directory: boolean;
}

function writeJournal(gen: string, differences: readonly Difference[]): void {
  const lines = differences.map(
    ({ path: one, from, to }): JournalLine => ({ path: one, directory: from?.kind === 'd' && to?.kind === 'd' }),
  );
  writeJsonAtomic(path.join(gen, 'journal'), lines);
}

/** The snapshot without these paths and what is below them; a directory that stays gets an impossible time. */
function forget(snapshot: Snapshot, lines: readonly JournalLine[]): Snapshot {
  const rest = new Map(snapshot);
  for (const { path: one, directory } of lines) {
    const dir = parentOf(one);
    const name = one.slice(dir === '' ? 0 : dir.length + 1);
    const rows = rest.get(dir)?.split('\0') ?? [];
    const kept = rows.filter((row) => !row.startsWith(`${name}/`));
    if (kept.length === rows.length) continue;
    const impossible = writeRow({ ...NO_ROW, name });
    if (rest.has(dir)) rest.set(dir, [...kept, ...(directory ? [impossible] : [])].join('\0'));
    if (directory || !rest.has(one)) continue;
    for (const below of [...rest.keys()]) if (below === one || below.startsWith(`${one}/`)) rest.delete(below);
  }
  return rest;
}

const NO_ROW = { kind: 'd', mode: 0, size: 0, mtimeMs: 0, ctimeMs: 0, ino: 0, dev: 0, nlink: 1 } as const;

function rowExists(snapshot: Snapshot, one: string): boolean {
  const dir = parentOf(one);
  const name = one.slice(dir === '' ? 0 : dir.length + 1);
  return `\0${snapshot.get(dir) ?? ''}`.includes(`\0${name}/`);
}

function genDir(dir: string, number: number): string {
  return path.join(dir, 'gen', String(number));
}

function numbers(dir: string): number[] {
  return readdirSync(path.join(dir, 'gen')).map(Number).filter(Number.isInteger);
}

function highestNumber(dir: string): number {
  return Math.max(0, ...numbers(dir));
}

/** The newest one that was finished. */
function newestGeneration(dir: string): number | undefined {
  const whole = numbers(dir).filter((number) => existsSync(path.join(genDir(dir, number), 'manifest')));
  return whole.length === 0 ? undefined : Math.max(...whole);
}

function sweepGenerations(dir: string, keep: ReadonlySet<number>): void {
  for (const number of numbers(dir)) if (!keep.has(number)) removeTree(path.join(dir, 'gen'), String(number));
}

interface User {
  readonly generation: number;
  readonly sessionDir: string;
}

function usersOf(dir: string): Array<{ file: string; user: User }> {
  const folder = path.join(dir, 'users');
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => ({ file: path.join(folder, name), user: readJson(path.join(folder, name)) as User }));
}

/** Generations that a session stands on; entries of sessions that are gone are removed. */
function usedGenerations(dir: string): Set<number> {
  const used = new Set<number>();
  for (const { file, user } of usersOf(dir)) {
    if (existsSync(user.sessionDir)) used.add(user.generation);
    else rmSync(file, { force: true });
  }
  return used;
}

function enterUser(options: BaseOptions, generation: number): void {
  const user: User = { generation, sessionDir: options.sessionDir };
  writeJsonAtomic(path.join(options.dir, 'users', `${options.sessionId}.json`), user);
}

function syncedState(gen: string): string | undefined {
  const file = path.join(gen, 'synced');
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

/**
 * Forces a generation to the disk, so that it outlives a reboot; without, it is made anew after one. In the background:
 * nobody waits for a busy disk, and a command that ends earlier leaves it to the next.
 */
export function settleBase(gen: string): void {
  const manifest = path.join(gen, 'manifest');
  if (!existsSync(manifest)) return;
  const { state } = decodeHeader(readFileSync(manifest)) as Header;
  if (syncedState(gen) === state) return;
  // No such program or option (macOS): the base is made anew after a reboot.
  const child = spawn('sync', ['-f', manifest], { stdio: 'ignore' }).on('error', () => undefined);
  child.on('exit', (status) => {
    try {
      if (status === 0) writeFileAtomic(path.join(gen, 'synced'), state);
    } catch {
      // The generation was removed meanwhile.
    }
  });
  child.unref();
}

/** The session does not need its generation any more. */
export function releaseBase(dir: string, sessionId: string): void {
  rmSync(path.join(dir, 'users', `${sessionId}.json`), { force: true });
}

function tellMoving(tell: Tell, moved: readonly string[]): void {
  const text = `Files kept changing while they were copied and are not in the copy: ${moved.slice(0, 5).join(', ')}${moved.length > 5 ? ` and ${moved.length - 5} more` : ''}`;
  tell({ kind: 'message', level: 'warning', text });
}

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { withLock } from '../store/lock.ts';
import { processIdentity } from '../store/process.ts';
import { makePrivateDir, readJson, writeFileAtomic, writeJsonAtomic } from '../store/record.ts';
import type { Problem } from '../types/entry.ts';
import type { Tell } from '../types/event.ts';
import { cloneGeneration, genDir, highestNumber, newestGeneration, sweepGenerations } from './generation.ts';
import type { Graft } from './list-directories.ts';
import type { LookAhead, TakeLook } from './look-ahead.ts';
import {
  forget,
  type Header,
  type Loaded,
  loadManifest,
  syncedState,
  usable,
  type WantedHeader,
  writeJournal,
} from './manifest.ts';
import { type Owner, refreshTree } from './refresh.ts';
import type { Selection } from './selection.ts';
import { compareSnapshots, countEntries, encodeSnapshot, loadHeader, rowAt, type Snapshot } from './snapshot.ts';
import { isIntact } from './verify.ts';
import { type Walked, walkTree } from './walk.ts';

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
  /** A look at the project that was begun earlier; not used when it is over for longer than a moment. */
  readonly ahead?: TakeLook;
}

export interface BaseGeneration {
  readonly dir: string;
  readonly entries: number;
  readonly leftOut: readonly Problem[];
  readonly withheld: readonly string[];
  readonly dropped: readonly string[];
}

const ROUNDS = 4;
const LOCK_WAIT_MS = 30 * 60_000;
/** How old a look at the project may be: what is saved in an editor counts until a session starts. */
const AHEAD_MS = 1000;

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
  const ahead = await stillTrue(options, current);
  let old = current === undefined ? undefined : loadGeneration(options, current, ahead?.loaded);
  let walked = ahead?.walked ?? (await walk(options, old?.snapshot));
  if (options.verify && old !== undefined && current !== undefined) {
    const tree = path.join(genDir(options.dir, current), 'tree');
    if (!(await isIntact(tree, old, walked, options))) {
      options.tell({ kind: 'message', level: 'warning', text: 'The private copy was damaged; it is made anew.' });
      old = undefined;
    }
  }
  let differences = compareSnapshots(old?.snapshot ?? new Map(), walked.snapshot);
  if (old === undefined || current === undefined || (differences.any && used.has(current))) {
    const next = highestNumber(options.dir) + 1;
    await cloneGeneration(genDir(options.dir, current ?? 0), genDir(options.dir, next), old?.snapshot);
    current = next;
  }
  const gen = genDir(options.dir, current);
  const unreadable = new Map(old?.header.unreadable.map((one) => [one.path, one]) ?? []);
  const dropped = new Map(old?.header.dropped.map((line) => [line, line]) ?? []);
  let known: Snapshot = old?.snapshot ?? new Map();
  for (let round = 1; differences.any || !existsSync(path.join(gen, 'manifest')); round++) {
    // Without a manifest a kill leaves nothing that anybody would use.
    if (existsSync(path.join(gen, 'manifest'))) writeJournal(gen, differences);
    const started = Date.now();
    const done = await refreshTree({
      tree: path.join(gen, 'tree'),
      walked,
      differences,
      owner: options.owner,
      tell: options.tell,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    if (unreadable.size > 0) for (const one of differences) unreadable.delete(one.path);
    for (const one of done.unreadable) unreadable.set(one.path, one);
    for (const line of done.dropped) dropped.set(line, line);
    known = forget(
      walked.snapshot,
      done.moved.map((one) => ({ path: one, directory: false })),
    );
    const state = randomBytes(8).toString('hex');
    const header: Header = {
      ...wantedHeader(options),
      state,
      unreadable: [...unreadable.values()],
      dropped: [...dropped.values()],
    };
    writeFileAtomic(path.join(gen, 'manifest'), encodeSnapshot(header, known), { durable: false });
    rmSync(path.join(gen, 'journal'), { force: true });
    // Looked at again: what moved; what took long; and once, what was being changed while it was walked. Files that are
    // written all the time would otherwise have every start walk for ever.
    const torn = round === 1 && walked.changed;
    if (done.moved.length === 0 && !torn && Date.now() - started < 1000) break;
    if (round === ROUNDS) {
      if (done.moved.length > 0) tellMoving(options.tell, done.moved);
      break;
    }
    walked = await walk(options, known);
    differences = compareSnapshots(known, walked.snapshot);
  }
  enterUser(options, current);
  const gone = [...unreadable.values()].filter((one) => rowAt(known, one.path) !== undefined);
  return {
    dir: gen,
    entries: countEntries(known),
    leftOut: [...walked.leftOut, ...gone],
    withheld: walked.withheld,
    dropped: [...dropped.values()],
  };
}

/** The look ahead, unless the person, or another session that was told of it, may have changed something since. */
async function stillTrue({ dir, ahead }: BaseOptions, current: number | undefined): Promise<LookAhead | undefined> {
  const seen = await ahead?.();
  if (seen === undefined || Date.now() - seen.ended > AHEAD_MS || seen.generation !== current) return undefined;
  if (current === undefined) return seen;
  if (seen.loaded === undefined) return undefined;
  const { state } = loadHeader(path.join(genDir(dir, current), 'manifest')) as Header;
  return state === seen.loaded.header.state ? seen : undefined;
}

function loadGeneration(options: BaseOptions, number: number, loaded: Loaded | undefined): Loaded | undefined {
  const gen = genDir(options.dir, number);
  const found = loaded ?? loadManifest(gen, options.tell);
  return found && usable(gen, found, wantedHeader(options));
}

function walk(options: BaseOptions, known: Snapshot | undefined): Promise<Walked> {
  const { project: root, grafts, selection, signal } = options;
  return walkTree({ root, grafts, selection, known, ...(signal === undefined ? {} : { signal }) });
}

function wantedHeader(options: BaseOptions): WantedHeader {
  return { version: 2, bootId: processIdentity().bootId, owner: options.owner ?? null, project: options.project };
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

/**
 * Forces a generation to the disk, so that it outlives a reboot; without, it is made anew after one. In the background:
 * nobody waits for a busy disk, and a command that ends earlier leaves it to the next.
 */
export function settleBase(gen: string): void {
  const manifest = path.join(gen, 'manifest');
  if (!existsSync(manifest)) return;
  const { state } = loadHeader(manifest) as Header;
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

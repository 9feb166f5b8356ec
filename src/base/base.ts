import { randomBytes } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { RunClaudeError } from '../errors.ts';
import { processIdentity } from '../host/process.ts';
import { removeTreeSync } from '../host/remove-tree.ts';
import { lackingPaths } from '../scan/lacking.ts';
import type { Graft } from '../scan/list-directories.ts';
import type { Selection } from '../scan/selection.ts';
import {
  compareSnapshots,
  countEntries,
  type Differences,
  encodeSnapshot,
  rowAt,
  type Snapshot,
} from '../scan/snapshot.ts';
import { type WalkedTree, walkTree } from '../scan/walk.ts';
import { writeFileAtomic } from '../store/record.ts';
import type { Problem } from '../types/entry.ts';
import type { Tell } from '../types/event.ts';
import {
  cloneGeneration,
  genDir,
  highestNumber,
  maxEntryBytes,
  newestGeneration,
  sweepGenerations,
} from './generation.ts';
import { addRef } from './generation-refs.ts';
import {
  forget,
  forgetRemarks,
  GENERATION_FORMAT,
  type Header,
  type Loaded,
  loadManifest,
  readHeader,
  usable,
  type WantedHeader,
  writeJournal,
} from './manifest.ts';
import { markIndexes } from './mark-indexes.ts';
import type { Prescan, TakePrescan } from './prescan.ts';
import { type Owner, refreshTree } from './refresh/refresh.ts';
import { emptyTree, isLittle, openStacked, stackedOn, whiteoutOf } from './stacked.ts';
import { isIntact } from './verify.ts';

// A base is a directory of generations, each a private snapshot of the project:
//   gen/N/tree      the snapshot     gen/N/nonce     proves to the collector that it reads this one
//   gen/N/manifest  written last     gen/N/journal   what a refresh under way may have left half done
//   users/ID.json   sessions that reference a generation, which then never changes
// A stacked generation holds only what differs from a whole one beside it: see stacked.ts.

export interface BaseOptions {
  /** Of this project: `$XDG_CACHE_HOME/run-claude/bases/<16 hex>`. */
  readonly dir: string;
  readonly project: string;
  readonly grafts: ReadonlyMap<string, readonly Graft[]>;
  readonly selection: Selection;
  /** Owner of the files inside, where it is not this process's user. */
  readonly owner: Owner | undefined;
  readonly sessionId: string;
  /** Of the session: its reference is void when this directory no longer exists. */
  readonly sessionDir: string;
  readonly verify: boolean;
  /** Whether the kernel may lay a new generation over another one. */
  readonly stack: boolean;
  readonly tell: Tell;
  readonly signal?: AbortSignal;
  /** A scan of the project that was begun earlier; used only if it ended a moment ago. */
  readonly prescan?: TakePrescan;
}

export interface BaseGeneration {
  readonly dir: string;
  readonly entries: number;
  readonly leftOut: readonly Problem[];
  readonly withheld: readonly string[];
  readonly dropped: readonly string[];
  /** As Walked.lenders. */
  readonly lenders: readonly string[];
}

const ROUNDS = 4;
/** How old a prescan may be: what is saved in an editor counts until a session starts. */
const MAX_PRESCAN_AGE_MS = 1000;

/**
 * A generation equal to the project, with a reference of the session to it. Walks the project once and copies only what
 * differs from `newest`; what a crash left half done is done again. Removes the generations that are neither `newest` nor
 * `needed`. To be called with the base's lock.
 */
export async function bringUpToDate(
  options: BaseOptions,
  needed: ReadonlySet<number>,
  newest: number | undefined,
): Promise<BaseGeneration> {
  const { dir } = options;
  sweepGenerations(dir, new Set([...needed, ...(newest === undefined ? [] : withBelow(dir, newest))]));
  const prescan = await currentPrescan(options, newest);
  const old = newest === undefined ? undefined : loadGeneration(options, newest, prescan?.loaded);
  const walked = marked(options, prescan?.walked ?? (await walk(options, old?.snapshot)), old?.header.unreadable ?? []);
  const over = newest === undefined ? undefined : stackedOn(genDir(dir, newest));
  const mayStay = over !== undefined && options.stack && !options.verify;
  if (mayStay && newest !== undefined && old !== undefined && isEqual(old, walked)) {
    return entered(options, newest, { ...old.header, known: old.snapshot, walked });
  }
  const whole = over ?? newest;
  const found = over === undefined ? old : loadGeneration(options, over, undefined);
  const sound =
    options.verify && found !== undefined && whole !== undefined ? await soundOf(options, whole, found, walked) : found;
  // Before what lies below it changes.
  if (over !== undefined && newest !== undefined && !needed.has(newest))
    sweepGenerations(dir, new Set([...needed, over]));
  const target = await makeTarget(options, whole, sound, needed, walked);
  return entered(options, target.number, await fill(options, target, walked));
}

/** The newest finished generation; undefined where its record is damaged: a new one is made in its place. */
export function newestReadable(dir: string): number | undefined {
  const newest = newestGeneration(dir);
  try {
    if (newest !== undefined) withBelow(dir, newest);
    return newest;
  } catch (error) {
    if (error instanceof RunClaudeError && error.code === 'RECORD_DAMAGED') return undefined;
    throw error;
  }
}

/** A generation and the whole one that it may be stacked on. */
export function withBelow(dir: string, number: number): number[] {
  const over = stackedOn(genDir(dir, number));
  return over === undefined ? [number] : [number, over];
}

function isEqual({ header, snapshot }: Loaded, walked: WalkedTree): boolean {
  return hasRoot(header, walked) && !compareSnapshots(snapshot, walked.snapshot).any;
}

/** Whether the project's own directory is as it was. */
function hasRoot(header: Header | undefined, { rootRow }: WalkedTree): boolean {
  return header?.root?.mode === rootRow.mode && header.root.mtimeMs === rootRow.mtimeMs;
}

/** `--verify`: undefined, with a warning, where a generation is not what was copied. */
async function soundOf(
  options: BaseOptions,
  number: number,
  found: Loaded,
  walked: WalkedTree,
): Promise<Loaded | undefined> {
  if (await isIntact(path.join(genDir(options.dir, number), 'tree'), found, walked, options)) return found;
  options.tell({ kind: 'message', level: 'warning', text: 'The private copy was damaged. Making it anew.' });
  return undefined;
}

/** A generation that is to become equal to the project. */
interface Target {
  readonly number: number;
  /** What its tree holds, or the tree that it is stacked on. */
  readonly from: Loaded | undefined;
  /** Between that and the project. */
  readonly differences: Differences;
  readonly stacked: boolean;
}

/**
 * The whole generation that was found, where no session references it or nothing differs. Otherwise a new one: stacked on
 * it where little differs, or beside it.
 */
async function makeTarget(
  { dir, stack }: BaseOptions,
  whole: number | undefined,
  from: Loaded | undefined,
  needed: ReadonlySet<number>,
  walked: WalkedTree,
): Promise<Target> {
  const number = highestNumber(dir) + 1;
  const differences = compareSnapshots(from?.snapshot ?? new Map(), walked.snapshot);
  const target = { number, from, differences, stacked: false };
  if (whole !== undefined && from !== undefined) {
    const same = !differences.any && hasRoot(from.header, walked);
    if (!needed.has(whole) || same) return { ...target, number: whole };
    if (stack && isLittle(differences) && openStacked(dir, number, whole)) return { ...target, stacked: true };
    removeTreeSync(genDir(dir, number));
  }
  await cloneGeneration(genDir(dir, whole ?? 0), genDir(dir, number), from?.snapshot);
  return target;
}

/** What a generation turned out to hold. */
interface Filled extends Pick<Header, 'unreadable' | 'dropped'> {
  readonly known: Snapshot;
  readonly walked: WalkedTree;
}

/** Makes the generation equal to the project. What changes while it is copied is scanned again. */
async function fill(options: BaseOptions, target: Target, first: WalkedTree): Promise<Filled> {
  const { number, from, stacked } = target;
  const gen = genDir(options.dir, number);
  const manifest = path.join(gen, 'manifest');
  const below = from?.snapshot ?? new Map();
  const unreadable = new Map(from?.header.unreadable.map((one) => [one.path, one]) ?? []);
  const dropped = new Map(from?.header.dropped.map((line) => [line, line]) ?? []);
  let walked = first;
  let known: Snapshot = below;
  let { differences } = target;
  let header = from?.header;
  for (let round = 1; differences.any || !hasRoot(header, walked) || !existsSync(manifest); round++) {
    if (stacked && round > 1) {
      rmSync(manifest);
      emptyTree(gen);
      differences = compareSnapshots(below, walked.snapshot);
    }
    // Without a manifest, what a kill leaves is used by no command.
    if (existsSync(manifest)) writeJournal(gen, differences);
    const started = Date.now();
    const done = await refreshTree({
      tree: path.join(gen, 'tree'),
      walked,
      differences,
      owner: options.owner,
      whiteout: stacked ? whiteoutOf(gen) : undefined,
      tell: options.tell,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    const missed = [...unreadable.keys()].join('\0');
    if (unreadable.size > 0 || dropped.size > 0) forgetRemarks(differences, unreadable, dropped);
    for (const one of done.unreadable) unreadable.set(one.path, one);
    for (const line of done.dropped) dropped.set(line, line);
    known = forget(
      walked.snapshot,
      done.moved.map((one) => ({ path: one, directory: false })),
    );
    const { mode, mtimeMs } = walked.rootRow;
    header = {
      ...wantedHeader(options),
      state: randomBytes(8).toString('hex'),
      root: { mode, mtimeMs },
      unreadable: [...unreadable.values()],
      dropped: [...dropped.values()],
    };
    writeFileAtomic(manifest, encodeSnapshot(header, known), { durable: false });
    rmSync(path.join(gen, 'journal'), { force: true });
    // Scanned again: what moved; what took long; and once, what was being changed while it was walked. Only once, because
    // files that are written all the time would have every start walk for ever.
    const torn = round === 1 && walked.changed;
    // And what the marks in an index name, which was not known before.
    const isMarked = missed === [...unreadable.keys()].join('\0');
    if (done.moved.length === 0 && !torn && isMarked && Date.now() - started < 1000) break;
    if (round === ROUNDS) {
      if (done.moved.length > 0) tellMoving(options.tell, done.moved);
      break;
    }
    walked = marked(options, await walk(options, known), [...unreadable.values()]);
    differences = compareSnapshots(known, walked.snapshot);
  }
  return { unreadable: [...unreadable.values()], dropped: [...dropped.values()], known, walked };
}

/** Records that the session references the generation. */
function entered(
  options: BaseOptions,
  generation: number,
  { unreadable, dropped, known, walked }: Filled,
): BaseGeneration {
  const { dir, sessionId, sessionDir } = options;
  addRef(dir, sessionId, { generation, sessionDir });
  return {
    dir: genDir(dir, generation),
    entries: countEntries(known),
    leftOut: [...walked.leftOut, ...unreadable.filter((one) => rowAt(known, one.path) !== undefined)],
    withheld: walked.withheld,
    dropped,
    lenders: walked.lenders,
  };
}

/** The prescan, unless the user or another session may have changed something since. */
async function currentPrescan(
  { dir, prescan }: BaseOptions,
  current: number | undefined,
): Promise<Prescan | undefined> {
  const scanned = await prescan?.();
  if (scanned === undefined || scanned.generation !== current) return undefined;
  if (Date.now() - scanned.ended > MAX_PRESCAN_AGE_MS) return undefined;
  if (current === undefined) return scanned;
  if (scanned.loaded === undefined) return undefined;
  return readHeader(genDir(dir, current))?.state === scanned.loaded.header.state ? scanned : undefined;
}

function loadGeneration(options: BaseOptions, number: number, loaded: Loaded | undefined): Loaded | undefined {
  const gen = genDir(options.dir, number);
  const found = loaded ?? loadManifest(gen, options.tell);
  return found && usable(gen, found, wantedHeader(options));
}

function walk(options: BaseOptions, known: Snapshot | undefined): Promise<WalkedTree> {
  const { dir, project: root, grafts, selection, signal } = options;
  const maxPathBytes = maxEntryBytes(dir);
  return walkTree({ root, grafts, selection, known, maxPathBytes, ...(signal === undefined ? {} : { signal }) });
}

/** The walked tree with marks in git's indexes for what the copy lacks. */
function marked({ selection }: BaseOptions, walked: WalkedTree, unreadable: readonly Problem[]): WalkedTree {
  return markIndexes(
    walked,
    lackingPaths(
      selection,
      [...walked.leftOut, ...unreadable].map((one) => one.path),
    ),
  );
}

function wantedHeader(options: BaseOptions): WantedHeader {
  return {
    version: GENERATION_FORMAT,
    bootId: processIdentity().bootId,
    owner: options.owner ?? null,
    project: options.project,
  };
}

function tellMoving(tell: Tell, moved: readonly string[]): void {
  const text = `Files kept changing while they were copied and are not in the copy: ${moved.slice(0, 5).join(', ')}${moved.length > 5 ? ` and ${moved.length - 5} more` : ''}`;
  tell({ kind: 'message', level: 'warning', text });
}

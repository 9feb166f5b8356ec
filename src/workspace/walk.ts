import { lstatSync, readdirSync, type Stats } from 'node:fs';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { RunClaudeError } from '../errors.ts';
import type { Problem } from '../types/entry.ts';
import { decodeBytes, encodeBytes } from '../types/path.ts';
import type { Selection } from './selection.ts';
import { type Row, type RowKind, type Snapshot, writeRow } from './snapshot.ts';

/** A tree on this host, which the agent has not written. */
export interface WalkOptions {
  readonly root: string;
  readonly selection: Selection;
  /** Directories whose content comes from elsewhere, later ones first: a linked worktree's `.git`. */
  readonly grafts?: ReadonlyMap<string, readonly Graft[]>;
  /** Git configurations are files like any other: a tree that was walked before. */
  readonly plain?: boolean;
  readonly signal?: AbortSignal;
}

export interface Graft {
  readonly source: string;
  /** Names at its top that are left out. */
  readonly without: readonly string[];
}

export interface Walked {
  readonly snapshot: Snapshot;
  /** The root directory itself. */
  readonly rootRow: Row;
  /** Sockets, FIFOs, devices, what can't be read or has too long a path: left out and named. */
  readonly leftOut: readonly Problem[];
  /** Excluded and masked paths (directories once). */
  readonly withheld: readonly string[];
  /** Where an entry of the snapshot lies on the host. */
  sourceOf(entryPath: string): string;
}

/** The engine's answers are waited for meanwhile, a dozen one after the other: none should lie for long. */
const TURN_MS = 5;

/** A name or path for Node's functions: text, or bytes where it is not UTF-8. */
export function fsPath(text: string): string | Buffer {
  return /(?<![\ud800-\udbff])[\udc80-\udcff]/.test(text) ? encodeBytes(text) : text;
}

/**
 * One walk by lstat, sorted by name, giving the event loop a turn now and then. Throws RunClaudeError
 * PROJECT_UNREADABLE when the root itself can't be read.
 */
export async function walkTree(options: WalkOptions): Promise<Walked> {
  const { root, selection } = options;
  const snapshot: Snapshot = new Map();
  const leftOut: Problem[] = [];
  const withheld: string[] = [];
  const elsewhere = new Map<string, string>();
  const rootStat = lstatOrThrow(root);
  // Depth first, parents' rows before children's; each item: path in the tree, its directories on the host.
  const todo: Array<{ dir: string; sources: readonly Graft[] }> = [
    { dir: '', sources: [{ source: root, without: [] }] },
  ];
  let turn = Date.now();
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    const { dir, sources } = next;
    const prefix = dir === '' ? '' : `${dir}/`;
    const names = readNames(sources, dir, leftOut);
    const git = options.plain !== true && names.has('HEAD') && names.has('objects') && names.has('refs');
    const rows: string[] = [];
    const below: typeof todo = [];
    for (const name of [...names.keys()].sort()) {
      const from = names.get(name) as readonly string[];
      const full = `${from[0]}/${name}`;
      const where = prefix + name;
      const grafted = options.grafts?.get(where);
      const stat = tryLstat(grafted?.[0]?.source ?? full, where, leftOut);
      if (stat === undefined) continue;
      const kind = rowKind(stat, git && /^config(\.worktree)?$/.test(name));
      if (kind === undefined) leftOut.push({ path: where, why: specialKind(stat) });
      if (kind === undefined) continue;
      let masked = false;
      if (selection.any) {
        const out = selection.leftOut(where, kind === 'd');
        masked = !out && kind !== 'd' && selection.masked(where);
        if (out || masked) withheld.push(where);
        if (out) continue;
      }
      rows.push(writeRow(toRow(name, masked ? 'm' : kind, stat)));
      if (from.length > 1 || from[0] !== hostPath(root, dir)) elsewhere.set(where, full);
      if (kind !== 'd') continue;
      const into = grafted ?? from.map((source) => ({ source: `${source}/${name}`, without: [] }));
      below.push({ dir: where, sources: into });
    }
    snapshot.set(dir, rows.join('\0'));
    todo.push(...below.reverse());
    if (Date.now() - turn > TURN_MS) {
      options.signal?.throwIfAborted();
      await nextTurn();
      turn = Date.now();
    }
  }
  return {
    snapshot,
    rootRow: toRow('', 'd', rootStat),
    leftOut,
    withheld,
    sourceOf: (entryPath) => elsewhere.get(entryPath) ?? hostPath(root, entryPath),
  };
}

function hostPath(root: string, dir: string): string {
  return dir === '' ? root : `${root}/${dir}`;
}

/** Names with the directories that have them, the winning one first. */
function readNames(sources: readonly Graft[], dir: string, leftOut: Problem[]): Map<string, string[]> {
  const names = new Map<string, string[]>();
  for (const { source, without } of sources) {
    let found: string[];
    try {
      found = readdirSync(fsPath(source));
      // A replacement character may stand for bytes that are not UTF-8: read again as bytes.
      if (found.some((name) => name.includes('\ufffd'))) {
        found = readdirSync(fsPath(source), { encoding: 'buffer' }).map((name) => decodeBytes(name));
      }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // Of several sources some lack a directory; one that went away is seen by the next walk.
      if (code !== 'ENOENT' && code !== 'ENOTDIR') leftOut.push({ path: dir, why: `cannot be listed (${code})` });
      continue;
    }
    for (const name of found) {
      if (without.includes(name)) continue;
      const has = names.get(name);
      if (has === undefined) names.set(name, [source]);
      else has.push(source);
    }
  }
  return names;
}

function tryLstat(full: string, where: string, leftOut: Problem[]): Stats | undefined {
  try {
    return lstatSync(fsPath(full));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') leftOut.push({ path: where, why: `cannot be looked at (${code})` });
    return undefined;
  }
}

function lstatOrThrow(root: string): Stats {
  try {
    const stat = lstatSync(root);
    if (!stat.isDirectory()) throw new Error('not a directory');
    readdirSync(root);
    return stat;
  } catch (cause) {
    throw new RunClaudeError('PROJECT_UNREADABLE', `cannot read ${root}: ${(cause as Error).message}`, {
      cause,
      hint: `Is ${path.basename(root)} the folder that you meant, and may you read it?`,
    });
  }
}

function rowKind(stat: Stats, gitConfig: boolean): RowKind | undefined {
  if (stat.isFile()) return gitConfig ? 'g' : 'f';
  if (stat.isDirectory()) return 'd';
  return stat.isSymbolicLink() ? 'l' : undefined;
}

function specialKind(stat: Stats): string {
  if (stat.isSocket()) return 'a socket';
  return stat.isFIFO() ? 'a FIFO' : 'a device';
}

function toRow(name: string, kind: RowKind, stat: Stats): Row {
  const { mode, size, mtimeMs, ctimeMs, ino, dev, nlink } = stat;
  // A directory's size and link count are the file system's own business.
  const directory = kind === 'd';
  return {
    name,
    kind,
    mode: mode & 0o7777,
    size: directory ? 0 : size,
    mtimeMs,
    ctimeMs,
    ino,
    dev,
    nlink: directory ? 1 : nlink,
  };
}

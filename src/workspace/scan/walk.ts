import * as fs from 'node:fs';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { RunClaudeError } from '../../core/errors.ts';
import { TICK_MS } from '../../core/host/files/mtime-granularity.ts';
import { decodeBytes, encodeBytes, nameOfPath, parentPath } from '../../core/text/path.ts';
import type { Selection } from '../../core/text/selection.ts';
import type { Problem } from '../../core/types/entry.ts';
import { type Rewritten, rewriteGitFile } from './git/git-files.ts';
import { borrowedObjects } from './git/git-grafts.ts';
import {
  type AnyPath,
  DirectoryLister,
  type Graft,
  type Listed,
  type ListOptions,
  type ListTask,
} from './list-directories.ts';
import { countRows, packRows, type Row, rowsOf, type Section, sameSection, sectionAt } from './packed-directory.ts';
import { countEntries, encodeSnapshot, type Snapshot } from './snapshot.ts';
import { TASKS_AT_ONCE, WalkThreads } from './walk-threads.ts';

/** A tree on this host, which the agent has not written. */
export interface WalkOptions {
  readonly root: string;
  readonly selection: Selection;
  /** Directories whose content is read from other places, later ones first: a linked worktree's `.git`. */
  readonly grafts?: ReadonlyMap<string, readonly Graft[]>;
  /** Treat git's directories like any other. For a tree that was walked before. */
  readonly plain?: boolean;
  /** Entries with a longer path, relative to the root, are left out. Default: no limit but the system's. */
  readonly maxPathBytes?: number | undefined;
  /** The result of an earlier walk. Unchanged directories share its memory. */
  readonly known?: Snapshot | undefined;
  readonly signal?: AbortSignal;
}

/** The result of a walk. */
export interface WalkedTree {
  readonly snapshot: Snapshot;
  /** The root directory itself. */
  readonly rootRow: Row;
  /** Sockets, FIFOs, devices, and entries that can't be read or have too long a path: left out, with the reason. */
  readonly leftOut: readonly Problem[];
  /** Excluded and masked paths (directories once). */
  readonly withheld: readonly string[];
  /** Object directories of other repositories from which repositories of the tree borrow. They were walked as part of the tree. */
  readonly lenders: readonly string[];
  /** Whether an entry changed since the walk began: what the walk read may be from before that change. */
  readonly changed: boolean;
  /** Path on the host of an entry of the snapshot. */
  sourceOf(entryPath: string): string;
  /** The content that one of git's files has in the copy, from its bytes on the host. */
  rewrite(entryPath: string, bytes: Buffer): Rewritten;
}

/** Entries that this thread reads at once. In between it handles the engine's responses, which should not wait long. */
const SLICE = 200;
/** From this many entries, threads are started. Starting them takes about 40 ms of processor time. */
const THREADS_FROM_ENTRIES = 8000;

/** A name or path for Node's functions: text, or bytes where it is not UTF-8. */
export function fsPath(text: string): string | Buffer {
  return /(?<![\ud800-\udbff])[\udc80-\udcff]/.test(text) ? encodeBytes(text) : text;
}

/**
 * Walks a tree by lstat, with this thread and, where there are many entries, a few more.
 *
 * @throws {RunClaudeError} PROJECT_UNREADABLE when the root can't be read
 */
export async function walkTree(options: WalkOptions): Promise<WalkedTree> {
  const { root, known = new Map<string, Section>(), signal } = options;
  const rootRow = rootRowOf(root);
  const listOptions: ListOptions = {
    grafts: options.grafts ?? new Map(),
    plain: options.plain === true,
    descend: !options.selection.any,
    maxPathBytes: options.maxPathBytes ?? Number.POSITIVE_INFINITY,
    since: Date.now() - TICK_MS,
    known: shareKnown(known),
  };
  const todo: ListTask[] = [
    { parent: undefined, name: '', sources: [{ source: fsPath(root), without: [] }], grafted: false },
  ];
  const { took, walked } = gather(options, known, todo);
  const crew = new WalkThreads(listOptions, todo, took);
  const lister = new DirectoryLister(listOptions);
  let expected = 0;
  for (const section of known.values()) expected += countRows(section);
  try {
    for (let seen = 0; todo.length > 0 || crew.isBusy; ) {
      signal?.throwIfAborted();
      if (Math.max(seen, expected) > THREADS_FROM_ENTRIES) crew.start();
      crew.feed();
      // The newest task first, and at most half of the tasks: the threads need some too.
      const next = todo.splice(-Math.min(TASKS_AT_ONCE, Math.ceil(todo.length / 2))).reverse();
      if (next.length === 0) {
        await crew.next();
        continue;
      }
      const listed = lister.list(next, SLICE);
      seen += listed.entries;
      took(listed);
      await nextTurn();
    }
  } finally {
    crew.end();
  }
  const lenders = listOptions.plain ? [] : await takeBorrowed();
  const places = { root, dotGit: listOptions.grafts.get('.git') };
  const rewrite = (one: string, bytes: Buffer): Rewritten => rewriteGitFile(one, walked.sourceOf(one), bytes, places);
  return { rootRow, lenders, ...walked, rewrite };

  /** Lists the objects of borrowing repositories again, together with the borrowed ones. Returns the lenders. */
  async function takeBorrowed(): Promise<string[]> {
    const { snapshot, sourceOf } = walked;
    const grafts = borrowedObjects(snapshot, sourceOf);
    if (grafts.size === 0) return [];
    const others = new Set<string>();
    const borrowing = new DirectoryLister({ ...listOptions, grafts });
    for (const [dir, sources] of grafts) {
      if (grafts.has(parentPath(dir))) continue;
      for (const { source } of sources.slice(1)) if (!source.startsWith(`${root}/`)) others.add(source);
      for (const one of snapshot.keys()) if (one.startsWith(`${dir}/`)) snapshot.delete(one);
      todo.push({ parent: parentPath(dir), name: nameOfPath(dir), sources, grafted: true });
    }
    while (todo.length > 0) {
      signal?.throwIfAborted();
      took(borrowing.list(todo.splice(-TASKS_AT_ONCE), SLICE));
      await nextTurn();
    }
    return [...others];
  }
}

/** The entries of a project as they are now. */
export interface ProjectList {
  /** As a generation's list is written on disk. */
  readonly encoded: Iterable<Uint8Array>;
  /** Entries outside of `.git`. */
  readonly count: number;
}

/**
 * Lists a project. No link is followed, and no file is opened.
 *
 * @throws {RunClaudeError} PROJECT_UNREADABLE; the signal's reason
 */
export async function listProject(root: string, selection: Selection, signal: AbortSignal): Promise<ProjectList> {
  const { snapshot, rootRow } = await walkTree({ root, selection, signal });
  const encoded = encodeSnapshot({ version: 1, root: { mode: rootRow.mode } }, snapshot);
  return { encoded, count: countEntries(snapshot) };
}

/** Combines the results. `took` receives each chunk, directories before their content. */
function gather({ root, selection }: WalkOptions, known: Snapshot, todo: ListTask[]) {
  const knownDirs = [...known.keys()];
  const snapshot: Snapshot = new Map();
  const leftOut: Problem[] = [];
  const withheld: string[] = [];
  let changed = false;
  const elsewhere = new Map<string, string>();
  const elsewhereDirs = new Map<string, string>();

  /** The section without excluded entries, and with masked files marked. Adds the paths of excluded entries to `out`. */
  const select = (dir: string, section: Section, out: Set<string>): Section => {
    const rows: Row[] = [];
    for (const row of rowsOf(section)) {
      const where = below(dir, row.name);
      const leaves = selection.leftOut(where, row.kind === 'd');
      const masked = !leaves && row.kind !== 'd' && selection.masked(where);
      if (leaves || masked) withheld.push(where);
      if (leaves) out.add(where);
      else rows.push(masked ? { ...row, kind: 'm' } : row);
    }
    const before = known.get(dir);
    const now = packRows(rows);
    return before !== undefined && sameSection(before, now) ? before : now;
  };

  const took = (listed: Listed): void => {
    const out = new Set<string>();
    let at = 0;
    changed ||= listed.changed;
    listed.dirs.forEach((dir, i) => {
      const same = listed.same[i] as number;
      let section: Section;
      if (same >= 0) section = known.get(knownDirs[same] as string) as Section;
      else {
        section = sectionAt(listed.chunk, at);
        at += section.length;
      }
      snapshot.set(dir, selection.any ? select(dir, section, out) : section);
    });
    for (const task of listed.below) {
      const name = nameText(task.name);
      if (!out.has(below(task.parent ?? '', name))) todo.push({ ...task, name });
    }
    for (const { dir, name, why } of listed.problems) {
      leftOut.push({ path: name === undefined ? dir : below(dir, nameText(name)), why });
    }
    for (const { dir, name, source } of listed.elsewhere) {
      if (name === undefined) elsewhereDirs.set(dir, nameText(source));
      else elsewhere.set(below(dir, nameText(name)), nameText(source));
    }
  };

  const sourceOf = (entryPath: string): string => {
    const dir = parentPath(entryPath);
    const found = elsewhere.get(entryPath);
    return found ?? `${elsewhereDirs.get(dir) ?? below(root, dir)}/${nameOfPath(entryPath)}`;
  };
  const walked = {
    snapshot,
    leftOut,
    withheld,
    sourceOf,
    get changed() {
      return changed;
    },
  };
  return { took, walked };
}

function below(dir: string, name: string): string {
  return dir === '' ? name : name === '' ? dir : `${dir}/${name}`;
}

function nameText(name: AnyPath): string {
  return typeof name === 'string' ? name : decodeBytes(name);
}

/** The known snapshot in shared memory, so that threads use it without a copy. */
function shareKnown(known: Snapshot): ListOptions['known'] {
  const chunks = new Map<SharedArrayBuffer, number>();
  const at: number[] = [];
  for (const { buffer, byteOffset } of known.values()) {
    // Only packRows() makes sections, always in shared memory.
    const chunk = buffer as unknown as SharedArrayBuffer;
    if (!chunks.has(chunk)) chunks.set(chunk, chunks.size);
    at.push(chunks.get(chunk) as number, byteOffset);
  }
  return { dirs: [...known.keys()], chunks: [...chunks.keys()], at: Uint32Array.from(at) };
}

function rootRowOf(root: string): Row {
  try {
    const stat = fs.lstatSync(root);
    if (!stat.isDirectory()) throw new Error('not a directory');
    fs.readdirSync(root);
    const { mode, mtimeMs, ctimeMs, ino, dev } = stat;
    return { name: '', kind: 'd', mode: mode & 0o7777, size: 0, mtimeMs, ctimeMs, ino, dev, nlink: 1 };
  } catch (cause) {
    throw new RunClaudeError('PROJECT_UNREADABLE', `cannot read ${root}: ${(cause as Error).message}`, {
      cause,
      hint: `Check that ${path.basename(root)} is the directory that you meant, and that you may read it.`,
    });
  }
}

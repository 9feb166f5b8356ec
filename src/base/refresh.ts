import {
  chmodSync,
  chownSync,
  lchownSync,
  linkSync,
  lutimesSync,
  mkdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { RunClaudeError } from '../errors.ts';
import { TICK_MS, waitForTick } from '../host/mtime-granularity.ts';
import { openDirectory, removeTreeSync } from '../host/remove-tree.ts';
import { readAsWalked } from '../scan/git-files.ts';
import type { Row } from '../scan/packed-directory.ts';
import { type Difference, type Differences, rowAt } from '../scan/snapshot.ts';
import { fsPath, type WalkedTree } from '../scan/walk.ts';
import { settableTimeOfMs } from '../store/file-time.ts';
import { remedyOf } from '../store/remedy.ts';
import { parentPath } from '../text/path.ts';
import type { Tell } from '../types/event.ts';
import { type CopyJob, copyFiles } from './copy-files.ts';
import { findNameTwins } from './name-twins.ts';

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

export interface RefreshOptions {
  /** Directory that is brought from the old snapshot to the walked one. */
  readonly tree: string;
  readonly walked: WalkedTree;
  readonly differences: Differences;
  readonly owner: Owner | undefined;
  /** Set where the tree is empty and will be laid over another one: entries to be hidden there become links to this file. */
  readonly whiteout?: string | undefined;
  readonly tell: Tell;
  readonly signal?: AbortSignal;
}

export interface Refreshed {
  /** Paths that changed while they were copied: the next walk sees them. */
  readonly moved: readonly string[];
  /** Paths that were left out because they can't be read. */
  readonly unreadable: ReadonlyArray<{ readonly path: string; readonly why: string }>;
  /** Keys and tokens that were removed from git configurations, named. */
  readonly dropped: readonly string[];
}

/**
 * Makes the tree equal to what was walked. Files are replaced, never written to: another generation may hold the same
 * inode.
 *
 * @throws {RunClaudeError} BASE_UNWRITABLE; BASE_NAMES_COLLIDE when the disk takes two names of the project for one
 */
export async function refreshTree(options: RefreshOptions): Promise<Refreshed> {
  const { tree, walked, differences, owner, whiteout } = options;
  // The root always: in an empty project nothing differs, and its root has an owner and a mode all the same.
  const touched = new Map<string, Row | undefined>([['', undefined]]);
  const links: Array<{ path: string; to: string }> = [];
  const moved: string[] = [];
  const unreadable: Array<{ path: string; why: string }> = [];
  const dropped: string[] = [];
  const firstOfInode = new Map<string, string>();
  const made = new Set(['']);
  const at = (path: string): string | Buffer => fsPath(path === '' ? tree : `${tree}/${path}`);
  try {
    if (whiteout === undefined) openUp(differences, at);
    await copyAll();
    for (const link of links) linkOrMove(link);
    finishDirectories();
  } catch (cause) {
    if (cause instanceof RunClaudeError || options.signal?.aborted) throw cause;
    throw unwritable(options, cause as Error);
  }
  return { moved, unreadable, dropped };

  /** Does all but the copying of files, and tells which those are: parents are there before what is in them. */
  function* prepared(): Generator<CopyJob> {
    for (const { path, from, to } of differences) {
      touch(touched, parentPath(path));
      const stays = whiteout === undefined && from?.kind === 'd' && to?.kind === 'd';
      if (whiteout !== undefined) makeParents(path);
      else if (from !== undefined && !stays) removeTreeSync(at(path), { opensParent: true });
      if (to === undefined) {
        if (whiteout !== undefined) hide(path);
        continue;
      }
      if (to.kind === 'd') {
        if (!stays && !made.has(path)) mkdirSync(at(path), { mode: 0o700 });
        made.add(path);
        touched.set(path, to);
        continue;
      }
      if (to.kind !== 'f') {
        placeOther(path, to);
        continue;
      }
      const inode = `${to.dev}:${to.ino}`;
      const first = to.nlink > 1 ? firstOfInode.get(inode) : undefined;
      if (first !== undefined) {
        links.push({ path, to: first });
        continue;
      }
      if (to.nlink > 1) firstOfInode.set(inode, path);
      yield { path, source: walked.sourceOf(path), ino: to.ino, dev: to.dev, mode: to.mode, size: to.size };
    }
  }

  /** Directories of the tree below that something changed in. */
  function makeParents(path: string): void {
    const parent = parentPath(path);
    if (made.has(parent)) return;
    makeParents(parent);
    mkdirSync(at(parent), { mode: 0o700 });
    made.add(parent);
    touch(touched, parent);
  }

  /** An entry that could not be copied exists nowhere: one of that name in the tree below is hidden. */
  function hide(path: string): void {
    rmSync(at(path), { force: true });
    if (whiteout !== undefined) linkSync(whiteout, at(path));
  }

  function placeOther(path: string, row: Row): void {
    const source = fsPath(walked.sourceOf(path));
    try {
      if (row.kind === 'l') symlinkSync(readlinkSync(source, { encoding: 'buffer' }), at(path));
      else
        writeFileSync(at(path), row.kind === 'm' ? '' : rewritten(path, source, row), { flag: 'wx', mode: row.mode });
    } catch (error) {
      const { code, syscall } = error as NodeJS.ErrnoException;
      if (syscall === 'readlink' || (syscall === 'open' && (code === 'ENOENT' || code === 'ELOOP'))) moved.push(path);
      else if (code === 'EACCES') unreadable.push({ path, why: code });
      else throw error;
      hide(path);
      return;
    }
    if (owner !== undefined) lchownSync(at(path), owner.uid, owner.gid);
    if (row.kind !== 'l') chmodSync(at(path), row.mode);
    lutimesSync(at(path), settableTimeOfMs(row.mtimeMs), settableTimeOfMs(row.mtimeMs));
  }

  function rewritten(path: string, source: string | Buffer, row: Row): Buffer {
    waitForTick(row.ctimeMs, TICK_MS);
    const file = walked.rewrite(path, readAsWalked(source, row));
    dropped.push(...file.dropped.map((what) => `${path}: ${what}`));
    return file.bytes;
  }

  async function copyAll(): Promise<void> {
    const what = 'Copying the project';
    const total = differences.files();
    const failures = await copyFiles(prepared(), {
      tree,
      owner,
      progress: (done) => {
        if (total > 2000) options.tell({ kind: 'progress', what, done, total, unit: 'files' });
      },
      signal: options.signal,
    });
    if (total > 2000) options.tell({ kind: 'progress-end', what });
    for (const failure of failures) {
      const { path } = failure;
      if (failure.what === 'failed') throw unwritable(options, new Error(failure.why));
      // A first copy may be incomplete: it is removed.
      hide(path);
      if (failure.what === 'changed') moved.push(path);
      else unreadable.push({ path, why: `cannot be read (${failure.why})` });
    }
  }

  function linkOrMove(link: { path: string; to: string }): void {
    try {
      linkSync(at(link.to), at(link.path));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      const lost = unreadable.find((one) => one.path === link.to);
      if (lost === undefined) moved.push(link.path);
      else unreadable.push({ path: link.path, why: lost.why });
      hide(link.path);
    }
  }

  /** Owner, mode and time of directories last and deepest first: what was done in them changed their times. */
  function finishDirectories(): void {
    for (const [path, known] of [...touched].reverse().sort((a, b) => b[0].length - a[0].length)) {
      const row = known ?? (path === '' ? walked.rootRow : rowAt(walked.snapshot, path));
      if (row?.kind !== 'd') continue;
      if (owner !== undefined) chownSync(at(path), owner.uid, owner.gid);
      chmodSync(at(path), row.mode);
      utimesSync(at(path), settableTimeOfMs(row.mtimeMs), settableTimeOfMs(row.mtimeMs));
    }
  }
}

/**
 * Opens the directories that their owner may not write, before anything in them is replaced. Never a new one: at its path
 * there may still be a link, to any place.
 */
function openUp(differences: Iterable<Difference>, at: (path: string) => string | Buffer): void {
  if (process.getuid?.() === 0) return;
  const seen = new Set<string>();
  for (const { path, from, to } of differences) {
    const parent = parentPath(path);
    if (!seen.has(parent)) openDirectory(at(parent));
    seen.add(parent);
    if (from?.kind === 'd') openDirectory(at(path));
    else if (to?.kind === 'd') seen.add(path);
  }
}

function touch(touched: Map<string, Row | undefined>, path: string): void {
  if (!touched.has(path)) touched.set(path, undefined);
}

function unwritable({ tree, walked }: RefreshOptions, cause: Error): RunClaudeError {
  const twins = cause.message.startsWith('EEXIST') ? findNameTwins(walked.snapshot) : undefined;
  if (twins !== undefined) {
    const [first, second] = twins.names.map((name) => (twins.folder === '' ? name : `${twins.folder}/${name}`));
    const message = `${first} and ${second} are one name on the disk of the private copy (${tree})`;
    return new RunClaudeError('BASE_NAMES_COLLIDE', message, {
      cause,
      hint: 'Rename one, leave one out with --exclude, or set XDG_CACHE_HOME to a directory on a case-sensitive disk.',
    });
  }
  return new RunClaudeError('BASE_UNWRITABLE', `cannot write the private copy in ${tree}: ${cause.message}`, {
    cause,
    hint: remedyOf(cause) ?? 'The project was not touched. Check that disk with: run-claude doctor',
  });
}

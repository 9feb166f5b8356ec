import {
  chmodSync,
  lchownSync,
  linkSync,
  lutimesSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { RunClaudeError } from '../../../core/errors.ts';
import { TICK_MS, waitForTick } from '../../../core/host/files/mtime-granularity.ts';
import { openDirectory, removeTreeSync } from '../../../core/host/files/remove-tree.ts';
import { openProgress } from '../../../core/progress/open-progress.ts';
import { settableTimeOfMs } from '../../../core/store/file-time.ts';
import { remedyOf } from '../../../core/store/remedy.ts';
import { parentPath } from '../../../core/text/path.ts';
import type { Tell } from '../../../core/types/event.ts';
import { readAsWalked } from '../../scan/git/git-files.ts';
import type { Row } from '../../scan/packed-directory.ts';
import type { Difference, Differences } from '../../scan/snapshot.ts';
import { fsPath, type WalkedTree } from '../../scan/walk.ts';
import { type CopyJob, copyFiles } from './copy-files.ts';
import { findNameTwins } from './name-twins.ts';
import { type Owner, type PathInTree, TouchedDirectories } from './touched-directories.ts';

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

/** From how many files on progress is reported. */
const MIN_FILES_FOR_PROGRESS = 2000;

/**
 * Makes the tree equal to what was walked. Files are replaced, never written to: another generation may hold the same
 * inode.
 *
 * @throws {RunClaudeError} BASE_UNWRITABLE; BASE_NAMES_COLLIDE when the disk takes two names of the project for one; and
 * the reason of an interruption
 */
export async function refreshTree(options: RefreshOptions): Promise<Refreshed> {
  const refresh = new TreeRefresh(options);
  try {
    return await refresh.run();
  } catch (cause) {
    if (cause instanceof RunClaudeError || options.signal?.aborted) throw cause;
    throw unwritable(options, cause as Error);
  }
}

/** A hard link to be made once the file that it names is copied. */
interface LaterLink {
  readonly path: string;
  /** Another path of the tree. */
  readonly to: string;
}

/** One refresh, in three steps: everything except file content, then the files, then links and directories. */
class TreeRefresh {
  readonly #options: RefreshOptions;
  readonly #directories: TouchedDirectories;
  readonly #links: LaterLink[] = [];
  readonly #moved: string[] = [];
  readonly #unreadable: Array<{ path: string; why: string }> = [];
  readonly #dropped: string[] = [];
  /** By device and inode: the first path of a file with several. */
  readonly #firstOfInode = new Map<string, string>();

  constructor(options: RefreshOptions) {
    this.#options = options;
    this.#directories = new TouchedDirectories((path) => this.#at(path));
  }

  async run(): Promise<Refreshed> {
    const { differences, whiteout, walked, owner } = this.#options;
    if (whiteout === undefined) openUp(differences, (path) => this.#at(path));
    await this.#copyFiles();
    for (const link of this.#links) this.#link(link);
    this.#directories.finish(walked, owner);
    return { moved: this.#moved, unreadable: this.#unreadable, dropped: this.#dropped };
  }

  #at(path: string): string | Buffer {
    const { tree } = this.#options;
    return fsPath(path === '' ? tree : `${tree}/${path}`);
  }

  /** Does everything else for each difference, and yields the files to be copied. Parents come before their entries. */
  *#fileJobs(): Generator<CopyJob> {
    for (const { path, from, to } of this.#options.differences) {
      const stays = this.#clear(path, from, to);
      if (to === undefined) continue;
      if (to.kind === 'd') this.#directories.make(path, to, stays);
      else if (to.kind !== 'f') this.#placeOther(path, to);
      else if (!this.#isLaterLink(path, to)) yield this.#jobOf(path, to);
    }
  }

  /** Makes the place of a difference free. Returns whether a directory stays. */
  #clear(path: string, from: Row | undefined, to: Row | undefined): boolean {
    this.#directories.touch(parentPath(path));
    if (this.#options.whiteout !== undefined) {
      this.#directories.makeParents(path);
      if (to === undefined) this.#hide(path);
      return false;
    }
    const stays = from?.kind === 'd' && to?.kind === 'd';
    if (from !== undefined && !stays) removeTreeSync(this.#at(path), { opensParent: true });
    return stays;
  }

  /** Whether another path of the file is copied already, so that this one becomes a link to it. */
  #isLaterLink(path: string, row: Row): boolean {
    if (row.nlink <= 1) return false;
    const inode = `${row.dev}:${row.ino}`;
    const first = this.#firstOfInode.get(inode);
    if (first === undefined) this.#firstOfInode.set(inode, path);
    else this.#links.push({ path, to: first });
    return first !== undefined;
  }

  #jobOf(path: string, { ino, dev, mode, size }: Row): CopyJob {
    return { path, source: this.#options.walked.sourceOf(path), ino, dev, mode, size };
  }

  /** An entry that could not be copied exists nowhere: one of its name in the tree below is hidden. */
  #hide(path: string): void {
    const { whiteout } = this.#options;
    rmSync(this.#at(path), { force: true });
    if (whiteout !== undefined) linkSync(whiteout, this.#at(path));
  }

  /** Makes a link, a masked file, or a file of git's that the copy has with other content. */
  #placeOther(path: string, row: Row): void {
    const { walked, owner } = this.#options;
    const source = fsPath(walked.sourceOf(path));
    const target = this.#at(path);
    try {
      if (row.kind === 'l') symlinkSync(readlinkSync(source, { encoding: 'buffer' }), target);
      else {
        const bytes = row.kind === 'm' ? '' : this.#rewritten(path, source, row);
        writeFileSync(target, bytes, { flag: 'wx', mode: row.mode });
      }
    } catch (error) {
      const { code, syscall } = error as NodeJS.ErrnoException;
      const hasMoved = syscall === 'readlink' || (syscall === 'open' && (code === 'ENOENT' || code === 'ELOOP'));
      if (hasMoved) this.#moved.push(path);
      else if (code === 'EACCES') this.#unreadable.push({ path, why: code });
      else throw error;
      this.#hide(path);
      return;
    }
    if (owner !== undefined) lchownSync(target, owner.uid, owner.gid);
    if (row.kind !== 'l') chmodSync(target, row.mode);
    lutimesSync(target, settableTimeOfMs(row.mtimeMs), settableTimeOfMs(row.mtimeMs));
  }

  #rewritten(path: string, source: string | Buffer, row: Row): Buffer {
    waitForTick(row.ctimeMs, TICK_MS);
    const file = this.#options.walked.rewrite(path, readAsWalked(source, row));
    for (const what of file.dropped) this.#dropped.push(`${path}: ${what}`);
    return file.bytes;
  }

  async #copyFiles(): Promise<void> {
    const { tree, owner, signal, differences, tell } = this.#options;
    const total = differences.files();
    using shown = total > MIN_FILES_FOR_PROGRESS ? openProgress(tell, 'Copying the project') : undefined;
    const progress = (done: number): void => shown?.count({ done, total, unit: 'files' });
    const failures = await copyFiles(this.#fileJobs(), { tree, owner, progress, signal });
    for (const { path, ...failure } of failures) {
      if (failure.what === 'failed') throw unwritable(this.#options, new Error(failure.why));
      // The copy may be incomplete: it is removed.
      this.#hide(path);
      if (failure.what === 'changed') this.#moved.push(path);
      else this.#unreadable.push({ path, why: `cannot be read (${failure.why})` });
    }
  }

  #link({ path, to }: LaterLink): void {
    try {
      linkSync(this.#at(to), this.#at(path));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      // The file itself could not be copied.
      const lost = this.#unreadable.find((one) => one.path === to);
      if (lost === undefined) this.#moved.push(path);
      else this.#unreadable.push({ path, why: lost.why });
      this.#hide(path);
    }
  }
}

/**
 * Opens the directories that their owner may not write, before anything in them is replaced. Never a new one: at its path
 * there may still be a link, to any place.
 */
function openUp(differences: Iterable<Difference>, at: PathInTree): void {
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

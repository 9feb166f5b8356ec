import { type FSWatcher, lstatSync, readdirSync, readFileSync, watch } from 'node:fs';
import { decodeBytes, nameOfPath, parentPath } from '../../../core/text/path.ts';
import { absolutePath, type HostEntry } from '../scan-project.ts';
import { unwatchedError } from './breach.ts';

export interface TreeWatchOptions {
  readonly root: string;
  /** The tree as a scan saw it, by path. What changed since then is reported too. */
  readonly entries: ReadonlyMap<string, HostEntry>;
  /** Folders that are watched although they are in one that is skipped. */
  readonly always: ReadonlySet<string>;
  /** Called with the path of each entry that was made, written, renamed or deleted. */
  readonly onEntry: (path: string) => void;
  /** Called once a folder can no longer be watched. */
  readonly onFailure: (why: string) => void;
  /** Default: half of what the system allows the user, and at most 16,384. */
  readonly maxFolders?: number;
}

interface Folder {
  readonly watcher: FSWatcher;
  readonly ino: bigint;
  /** As of the last list; '' where there was none. */
  mtimeNs: string;
  readonly names: Set<string>;
}

/** Folders that package managers and git fill, with thousands of folders and no secret of the project's own. */
const SKIPPED = new Set(['node_modules', '.venv', '__pycache__', '.git']);
const MAX_FOLDERS = 16_384;
const MAX_WATCHES_FILE = '/proc/sys/fs/inotify/max_user_watches';
/** A folder that was written this shortly before its scan may have changed since then without another time. */
const RECENT_MS = 10_000;
const RECHECK_MS = 1000;
/** A recheck takes at most one part in this many of the time. */
const RECHECK_SHARE = 30;

/** Watches a tree of folders by events of the file system, with a recheck of their times for events that were lost. */
export class TreeWatch implements Disposable {
  readonly #options: TreeWatchOptions;
  readonly #maxFolders: number;
  readonly #folders = new Map<string, Folder>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** @throws {RunClaudeError} MASK_UNWATCHED where a folder cannot be watched, or there are too many */
  constructor(options: TreeWatchOptions) {
    this.#options = options;
    this.#maxFolders = options.maxFolders ?? maxFoldersHere();
    try {
      this.#openKnown();
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
    this.#recheckLater(RECHECK_MS);
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const { watcher } of this.#folders.values()) watcher.close();
    this.#folders.clear();
  }

  #openKnown(): void {
    const { entries, always } = this.#options;
    const isIn = (folder: string): boolean => always.has(folder) || !isSkipped(folder);
    const recent = BigInt(Date.now() - RECENT_MS) * 1_000_000n;
    this.#watch('', '');
    for (const [path, { kind, mtimeNs }] of entries)
      if (kind === 'dir' && isIn(path)) this.#watch(path, BigInt(mtimeNs) > recent ? '' : mtimeNs);
    for (const path of entries.keys()) this.#folders.get(parentPath(path))?.names.add(nameOfPath(path));
    for (const path of [...this.#folders.keys()]) this.#recheck(path);
  }

  #watch(path: string, mtimeNs: string): void {
    const { root, always } = this.#options;
    if (this.#folders.size >= this.#maxFolders && !always.has(path))
      throw unwatchedError(`it has more folders than can be watched here (${this.#maxFolders})`);
    const where = absolutePath(root, path);
    const stat = lstatSync(where, { bigint: true, throwIfNoEntry: false });
    if (stat?.isDirectory() !== true) return;
    let watcher: FSWatcher;
    try {
      watcher = watch(where, { persistent: false, encoding: 'buffer' });
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT' || code === 'ENOTDIR') return;
      throw unwatchedError(watchProblem(code, message), error);
    }
    watcher.on('change', (event, name) => this.#onEvent(path, event, name as unknown as Buffer | null));
    watcher.on('error', (error: NodeJS.ErrnoException) => this.#fail(watchProblem(error.code, error.message)));
    this.#folders.set(path, { watcher, ino: stat.ino, mtimeNs, names: new Set() });
  }

  #onEvent(folder: string, event: string, name: Buffer | null): void {
    if (this.#isClosed) return;
    this.#guarded(() => {
      const path = name === null ? undefined : below(folder, decodeBytes(name));
      if (path !== undefined) this.#options.onEntry(path);
      if (path === undefined) this.#recheck(folder);
      else if (event === 'rename') this.#follow(folder, path);
    });
  }

  /** Begins to watch a folder that is new at a path, and ends the watch of one that left it. */
  #follow(folder: string, path: string): void {
    const stat = lstatSync(absolutePath(this.#options.root, path), { bigint: true, throwIfNoEntry: false });
    const known = this.#folders.get(path);
    if (known !== undefined && stat?.ino !== known.ino) this.#leave(path);
    const names = this.#folders.get(folder)?.names;
    if (stat === undefined) {
      names?.delete(nameOfPath(path));
      // The event of a folder's own end names the folder itself.
      this.#recheck(folder);
      return;
    }
    names?.add(nameOfPath(path));
    if (stat.isDirectory() && !this.#folders.has(path) && !isSkipped(path)) this.#enter(path);
  }

  /** Watches a new folder and all below it, and reports each entry. */
  #enter(path: string): void {
    this.#watch(path, '');
    this.#recheck(path);
  }

  #leave(path: string): void {
    const known = this.#folders.get(path);
    if (known === undefined) return;
    known.watcher.close();
    this.#folders.delete(path);
    for (const name of known.names) this.#leave(below(path, name));
  }

  /** Lists a folder whose time is another one than at its last list, and reports what is new in it or left it. */
  #recheck(path: string): void {
    const known = this.#folders.get(path);
    if (known === undefined) return;
    const { root, onEntry } = this.#options;
    const where = absolutePath(root, path);
    const stat = lstatSync(where, { bigint: true, throwIfNoEntry: false });
    if (stat?.isDirectory() !== true || stat.ino !== known.ino) {
      this.#leave(path);
      return;
    }
    const mtimeNs = String(stat.mtimeNs);
    if (mtimeNs === known.mtimeNs) return;
    known.mtimeNs = mtimeNs;
    const now = new Set(namesIn(where));
    for (const name of known.names) {
      if (now.has(name)) continue;
      known.names.delete(name);
      onEntry(below(path, name));
      this.#leave(below(path, name));
    }
    for (const name of now) {
      if (known.names.has(name)) continue;
      onEntry(below(path, name));
      this.#follow(path, below(path, name));
    }
  }

  #recheckLater(delayMs: number): void {
    this.#timer = setTimeout(() => {
      const began = performance.now();
      this.#guarded(() => {
        for (const path of [...this.#folders.keys()]) this.#recheck(path);
      });
      if (!this.#isClosed) this.#recheckLater(Math.max(RECHECK_MS, RECHECK_SHARE * (performance.now() - began)));
    }, delayMs).unref();
  }

  /** A failure ends the watch: nothing may go on as if it were watched. */
  #guarded(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.#fail((error as Error).message);
    }
  }

  #fail(why: string): void {
    if (this.#isClosed) return;
    this[Symbol.dispose]();
    this.#options.onFailure(why);
  }
}

function namesIn(where: Buffer): string[] {
  try {
    return readdirSync(where, { encoding: 'buffer' }).map(decodeBytes);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // A folder that the user cannot list is none that the agent, with the same rights, can read.
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EACCES') return [];
    throw error;
  }
}

function below(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

function isSkipped(folder: string): boolean {
  return folder.split('/').some((part) => SKIPPED.has(part));
}

function maxFoldersHere(): number {
  try {
    // The user's editor needs watches too.
    const allowed = Number(readFileSync(MAX_WATCHES_FILE, 'utf8'));
    if (allowed > 0) return Math.min(MAX_FOLDERS, Math.floor(allowed / 2));
  } catch {
    // Another system has no such limit to read.
  }
  return MAX_FOLDERS;
}

/** `code`: of the system's error. */
function watchProblem(code: string | undefined, message: string): string {
  if (code === 'ENOSPC') return `the system's limit of watches is reached (${MAX_WATCHES_FILE})`;
  if (code === 'EMFILE') return `the system's limit of open files or of users of inotify is reached`;
  return message;
}

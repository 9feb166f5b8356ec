import * as fs from 'node:fs';
import { insideGit, isRunningState, isStash } from '../../core/git/layout.ts';
import { encodeBytes } from '../../core/text/path.ts';
import { gitFilesAmong, rowKindOf } from './row-kind.ts';
import { FIELDS, NAMES_AT, packHead, packSection, sectionLength } from './section-layout.ts';

/** A name or path: text, or bytes where it is not UTF-8. */
export type AnyPath = string | Uint8Array;

export interface Graft {
  readonly source: string;
  /** Names at its top that are left out. */
  readonly without: readonly string[];
}

interface Source {
  readonly source: AnyPath;
  /** Names at its top that are left out. */
  readonly without: readonly string[];
}

/** A directory to be listed. */
export interface ListTask {
  /** Path of the directory above; undefined for the root. */
  readonly parent: string | undefined;
  readonly name: AnyPath;
  /** Directories on the host that together are this directory, the winning one first. */
  readonly sources: readonly Source[];
  /** Its content is not at its own path. */
  readonly grafted: boolean;
}

/** Options of every lister of one walk. */
export interface ListOptions {
  readonly grafts: ReadonlyMap<string, readonly Graft[]>;
  readonly plain: boolean;
  /** False: every directory below is given back, so that the rules for what is left out can be applied in between. */
  readonly descend: boolean;
  /** As WalkOptions.maxPathBytes. */
  readonly maxPathBytes: number;
  /** When the walk began, in milliseconds since the epoch as the file system's clock has them. */
  readonly since: number;
  /** The directories as they were before: their sections begin at `at[2 * i + 1]` of `chunks[at[2 * i]]`. */
  readonly known: {
    readonly dirs: readonly string[];
    readonly chunks: readonly SharedArrayBuffer[];
    readonly at: Uint32Array;
  };
}

/** The result of some tasks: `dirs[i]` is `known.dirs[same[i]]` unchanged, or for -1 the next section of `chunk`. */
export interface Listed {
  readonly dirs: readonly string[];
  readonly same: readonly number[];
  readonly chunk: SharedArrayBuffer;
  readonly entries: number;
  /** Whether one of the directories or entries changed since the walk began. */
  readonly changed: boolean;
  /** Tasks that are left: those that the budget did not reach, and directories that a lister may not enter. */
  readonly below: readonly ListTask[];
  /** Entries that are left out; without a name the directory itself. */
  readonly problems: ReadonlyArray<{ readonly dir: string; readonly name?: AnyPath; readonly why: string }>;
  /** Where entries of a grafted directory are; without a name all of them. */
  readonly elsewhere: ReadonlyArray<{ readonly dir: string; readonly name?: AnyPath; readonly source: AnyPath }>;
}

const { S_IFMT, S_IFSOCK, S_IFIFO } = fs.constants;
const IF_THERE = { throwIfNoEntry: false } as const;

/** Lists directories of one tree, depth first. Each thread of a walk has its own. */
export class DirectoryLister {
  readonly #options: ListOptions;
  readonly #knownIndex: ReadonlyMap<string, number>;
  /** Of the directory that is being listed; reused for the next. */
  #numbers = new Float64Array(FIELDS * 1024);

  constructor(options: ListOptions) {
    this.#options = options;
    this.#knownIndex = new Map(options.known.dirs.map((dir, i) => [dir, i]));
  }

  /** Lists until `budget` entries have been read; the rest of the tasks is given back. */
  list(tasks: readonly ListTask[], budget: number): Listed {
    const batch = new Batch();
    const todo = [...tasks].reverse();
    for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
      for (const task of this.#listDirectory(next, batch)) {
        if (this.#options.descend && typeof task.name === 'string') todo.push(task);
        else batch.below.push(task);
      }
      if (batch.entries < budget) continue;
      for (const one of todo.reverse()) batch.below.push(one);
      break;
    }
    return batch.listed();
  }

  /** Adds one directory to the batch. Gives the directories in it, the last one first. */
  #listDirectory(task: ListTask, batch: Batch): ListTask[] {
    const { grafts, plain, since, maxPathBytes } = this.#options;
    const dir = pathOf(task);
    const prefix = dir === '' ? '' : `${dir}/`;
    const { names, isText, sourcesOf } = readNames(task, dir, batch);
    const git = gitFilesAmong(names, plain);
    if (this.#numbers.length < names.length * FIELDS) this.#numbers = new Float64Array(names.length * FIELDS * 2);
    const numbers = this.#numbers;
    const inside: ListTask[] = [];
    const kept: string[] = [];
    const inGit = plain ? undefined : insideGit(dir);
    for (const name of names) {
      if (isLonger(prefix, name, isText, maxPathBytes)) {
        batch.problems.push({ dir, name: bytesOf(name, isText), why: 'its path is too long for the copy' });
        continue;
      }
      const sources = sourcesOf?.get(name) ?? [(task.sources[0] as Source).source];
      const graft = grafts.size === 0 ? undefined : grafts.get(prefix + name);
      const full = join(sources[0] as AnyPath, name, isText);
      const stat = statOf(graft?.[0]?.source ?? full, dir, name, isText, batch);
      if (stat === undefined) continue;
      if (inGit !== undefined && (isRunningState(inGit, name, stat.isDirectory()) || isStash(inGit, name))) continue;
      const kind = rowKindOf(stat, name, git);
      if (kind === undefined) {
        batch.problems.push({ dir, name: bytesOf(name, isText), why: specialFile(stat.mode & S_IFMT) });
        continue;
      }
      // A directory's size and link count are the file system's own business.
      const isDirectory = kind === 'd';
      const at = kept.length * FIELDS;
      numbers[at] = packHead(stat.mode & 0o7777, kind, isDirectory ? 1 : stat.nlink);
      numbers[at + 1] = isDirectory ? 0 : stat.size;
      numbers[at + 2] = stat.mtimeMs;
      numbers[at + 3] = stat.ctimeMs;
      numbers[at + 4] = stat.ino;
      numbers[at + 5] = stat.dev;
      kept.push(name);
      batch.changed ||= stat.ctimeMs >= since;
      if (sourcesOf !== undefined) batch.elsewhere.push({ dir, name: bytesOf(name, isText), source: full });
      if (!isDirectory) continue;
      inside.push({
        parent: dir,
        name: bytesOf(name, isText),
        sources: graft ?? sources.map((source) => ({ source: join(source, name, isText), without: [] })),
        grafted: graft !== undefined || task.grafted,
      });
    }
    // An entry that was removed shows in its directory alone, which was read before its entries were.
    batch.changed ||= task.sources.some(({ source }) => hasMoved(source, since));
    batch.entries += names.length + 1;
    this.#addSection(dir, kept, isText, numbers.subarray(0, kept.length * FIELDS), batch);
    return inside.reverse();
  }

  /** Adds a directory to the batch: as a new section, or by its number where it is as it was. */
  #addSection(dir: string, names: readonly string[], isText: boolean, numbers: Float64Array, batch: Batch): void {
    const joined = names.join('/');
    const index = this.#knownIndex.get(dir);
    batch.dirs.push(dir);
    if (index !== undefined && this.#isKnown(index, names.length, joined, isText, numbers)) {
      batch.same.push(index);
      return;
    }
    batch.same.push(-1);
    batch.fresh.push({ names: Buffer.from(joined, isText ? 'utf8' : 'latin1'), numbers: numbers.slice() });
  }

  #isKnown(index: number, count: number, joined: string, isText: boolean, numbers: Float64Array): boolean {
    const { known } = this.#options;
    const buffer = known.chunks[known.at[2 * index] as number] as SharedArrayBuffer;
    const start = known.at[2 * index + 1] as number;
    const [oldCount = 0, length = 0] = new Uint32Array(buffer, start, 2);
    if (oldCount !== count) return false;
    const old = Buffer.from(buffer, start, sectionLength(count, length));
    if (old.toString(isText ? 'utf8' : 'latin1', NAMES_AT, NAMES_AT + length) !== joined) return false;
    const now = Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength);
    return old.subarray(old.length - numbers.byteLength).equals(now);
  }
}

/** What one call of a lister gives, directory by directory. */
class Batch {
  readonly dirs: string[] = [];
  readonly same: number[] = [];
  readonly fresh: Array<{ readonly names: Buffer; readonly numbers: Float64Array }> = [];
  readonly below: ListTask[] = [];
  readonly problems: Array<Listed['problems'][number]> = [];
  readonly elsewhere: Array<Listed['elsewhere'][number]> = [];
  entries = 0;
  changed = false;

  listed(): Listed {
    const { dirs, same, fresh, entries, changed, below, problems, elsewhere } = this;
    const lengths = fresh.map(({ names, numbers }) => sectionLength(numbers.length / FIELDS, names.length));
    const chunk = new SharedArrayBuffer(lengths.reduce((sum, length) => sum + length, 0));
    let at = 0;
    for (const [i, { names, numbers }] of fresh.entries()) {
      packSection(chunk, at, names, numbers);
      at += lengths[i] as number;
    }
    return { dirs, same, chunk, entries, changed, below, problems, elsewhere };
  }
}

function pathOf({ parent, name }: ListTask): string {
  if (parent === undefined) return '';
  return parent === '' ? (name as string) : `${parent}/${name as string}`;
}

interface Names {
  /** Sorted. Where one is not UTF-8, each is a string of its bytes ("latin1"). */
  readonly names: readonly string[];
  readonly isText: boolean;
  /** For each name the sources that have it, where they are not simply the task's only one. */
  readonly sourcesOf: ReadonlyMap<string, readonly AnyPath[]> | undefined;
}

function readNames({ sources, grafted }: ListTask, dir: string, batch: Batch): Names {
  let isText = true;
  let found = sources.map(({ source }) => readDirectory(source, dir, true, batch));
  // A replacement character may stand for bytes that are not UTF-8: read again as bytes.
  if (found.some((names) => names.some((name) => name.includes('\ufffd')))) {
    isText = false;
    found = sources.map(({ source }) => readDirectory(source, dir, false, batch));
  }
  if (sources.length === 1 && sources[0]?.without.length === 0) {
    if (grafted) batch.elsewhere.push({ dir, source: sources[0].source });
    return { names: (found[0] as string[]).sort(), isText, sourcesOf: undefined };
  }
  const sourcesOf = new Map<string, AnyPath[]>();
  for (const [i, { source, without }] of sources.entries()) {
    for (const name of found[i] as string[]) {
      if (without.includes(name)) continue;
      const earlier = sourcesOf.get(name);
      if (earlier === undefined) sourcesOf.set(name, [source]);
      else earlier.push(source);
    }
  }
  return { names: [...sourcesOf.keys()].sort(), isText, sourcesOf };
}

function readDirectory(source: AnyPath, dir: string, isText: boolean, batch: Batch): string[] {
  try {
    // Threads receive bytes without Buffer's own methods.
    const place = typeof source === 'string' ? source : Buffer.from(source);
    if (isText) return fs.readdirSync(place);
    return fs.readdirSync(place, { encoding: 'buffer' }).map((name) => name.toString('latin1'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Of several sources some lack a directory. One that was removed since is seen by the next walk.
    if (code !== 'ENOENT' && code !== 'ENOTDIR') batch.problems.push({ dir, why: `cannot be listed (${code})` });
    return [];
  }
}

/** A character of JavaScript is at most three bytes, so most paths need not be encoded. */
function isLonger(prefix: string, name: string, isText: boolean, max: number): boolean {
  if ((prefix.length + name.length) * 3 <= max) return false;
  return encodeBytes(prefix).length + (isText ? Buffer.byteLength(name) : name.length) > max;
}

function bytesOf(name: string, isText: boolean): AnyPath {
  return isText ? name : Buffer.from(name, 'latin1');
}

function join(source: AnyPath, name: string, isText: boolean): AnyPath {
  if (isText && typeof source === 'string') return `${source}/${name}`;
  const bytes = Buffer.from(name, isText ? 'utf8' : 'latin1');
  return Buffer.concat([Buffer.from(source as string), Buffer.from('/'), bytes]);
}

function statOf(full: AnyPath, dir: string, name: string, isText: boolean, batch: Batch): fs.Stats | undefined {
  try {
    return fs.lstatSync(full as string, IF_THERE);
  } catch (error) {
    const why = `its metadata cannot be read (${(error as NodeJS.ErrnoException).code})`;
    batch.problems.push({ dir, name: bytesOf(name, isText), why });
    return undefined;
  }
}

/** Whether the directory has changed since a moment, or no longer exists. */
function hasMoved(source: AnyPath, since: number): boolean {
  try {
    const stat = fs.lstatSync(source as string, IF_THERE);
    return stat === undefined || stat.ctimeMs >= since;
  } catch {
    // Listing it has failed too, and that is reported.
    return false;
  }
}

function specialFile(type: number): string {
  if (type === S_IFSOCK) return 'a socket';
  return type === S_IFIFO ? 'a FIFO' : 'a device';
}

import { posix } from 'node:path';
import { IgnoredPaths, type IgnoreSources, type RepositoryRules } from '../../core/git/ignored-paths.ts';
import { indexPaths } from '../../core/git/index-paths.ts';
import { parentPath, type RelPath } from '../../core/text/path.ts';
import { IgnorePatterns } from '../../core/text/patterns/ignore-patterns.ts';
import type { WithheldGroup } from '../../core/types/entry.ts';
import type { Collector } from './client.ts';

const MAX_IGNORE_FILE_BYTES = 1 << 20;

/** The base's own ignore rules. The session's rules decide nothing. */
export interface IgnoreRules {
  /** The topmost ignored directory that holds the path, or the path itself; undefined when it is not ignored. */
  top(path: string, directory: boolean): Promise<string | undefined>;
  /** Whether a directory is ignored and its index tracks nothing below it: no change of it is anything but output. */
  whole(dir: string): Promise<boolean>;
}

/** The index of a monorepo with some 500,000 files. */
const MAX_INDEX_BYTES = 1 << 26;

type BaseFiles = Pick<Collector, 'stat' | 'readUpTo'>;

/**
 * Every `.gitignore` of the base on the way to a path, where the deepest has the last word, and `.git/info/exclude`. What
 * its index tracks is ignored by no rule, as in git; letter case counts unless its configuration says core.ignorecase.
 * A repository inside the base has rules and its own index, unless the base ignores it and does not track it.
 */
export function baseIgnoreRules(collector: BaseFiles): IgnoreRules {
  return new BaseIgnoreRules(new BaseSources(collector));
}

class BaseIgnoreRules implements IgnoreRules {
  readonly #sources: BaseSources;
  readonly #ignored: IgnoredPaths;
  /** By directory: the topmost ignored directory that holds it. */
  readonly #tops = new Map<string, Promise<string | undefined>>();

  constructor(sources: BaseSources) {
    this.#sources = sources;
    this.#ignored = new IgnoredPaths(sources);
  }

  async whole(dir: string): Promise<boolean> {
    if ((await this.#topOfDirectory(dir)) === undefined) return false;
    return !((await this.#isTracked(dir)) || this.#ignored.mayTrackBelow(dir));
  }

  async top(path: string, directory: boolean): Promise<string | undefined> {
    const top = await (directory ? this.#topOfDirectory(path) : this.#findTop(path, false));
    return top === undefined || (await this.#isTracked(path)) ? undefined : top;
  }

  async #isTracked(path: string): Promise<boolean> {
    await this.#sources.loadIndexes(this.#ignored.topsAround(parentPath(path)));
    return this.#ignored.mayTrack(path);
  }

  #topOfDirectory(dir: string): Promise<string | undefined> {
    const known = this.#tops.get(dir);
    if (known !== undefined) return known;
    const finding = this.#findTop(dir, true);
    this.#tops.set(dir, finding);
    return finding;
  }

  async #findTop(path: string, directory: boolean): Promise<string | undefined> {
    const above = await this.#topAround(parentPath(path));
    if (above !== undefined) return above;
    return this.#ignored.matches(path, directory) ? path : undefined;
  }

  /** The topmost ignored directory that holds what is in `dir`. Where there is none, the files of `dir` are loaded. */
  async #topAround(dir: string): Promise<string | undefined> {
    const top = dir === '' ? undefined : await this.#topOfDirectory(dir);
    // A submodule in an ignored directory: what is in it belongs to its own repository.
    if (top !== undefined && !(await this.#isTracked(dir))) return top;
    await this.#sources.load(dir);
    return undefined;
  }
}

/** The files of git of the base, as far as they are loaded. */
class BaseSources implements IgnoreSources {
  readonly #collector: BaseFiles;
  readonly #loading = new Map<string, Promise<void>>();
  readonly #ignoreFiles = new Map<string, string>();
  /** By the top of a repository: the directory of git's own files, in the base. */
  readonly #gitDirs = new Map<string, string>();
  readonly #repositories = new Map<string, RepositoryRules>();
  readonly #indexes = new Map<string, Promise<Buffer | undefined>>();
  readonly #loadedIndexes = new Map<string, Buffer | undefined>();

  constructor(collector: BaseFiles) {
    this.#collector = collector;
  }

  ignoreFile(dir: string): string | undefined {
    return this.#ignoreFiles.get(dir);
  }

  repository(dir: string): RepositoryRules | undefined {
    return this.#repositories.get(dir);
  }

  /** A path that a damaged index does not name is taken for untracked. */
  tracked(top: string, objectNameBytes: 20 | 32): ReadonlySet<string> {
    const index = this.#loadedIndexes.get(top);
    return index === undefined ? new Set() : indexPaths(index, objectNameBytes);
  }

  /** Loads what a directory has, once. */
  load(dir: string): Promise<void> {
    const known = this.#loading.get(dir);
    if (known !== undefined) return known;
    const loading = this.#load(dir);
    this.#loading.set(dir, loading);
    return loading;
  }

  async loadIndexes(tops: readonly string[]): Promise<void> {
    for (const top of tops) {
      if (this.#loadedIndexes.has(top)) continue;
      const reading = this.#indexes.get(top) ?? this.#readIndex(top);
      this.#indexes.set(top, reading);
      this.#loadedIndexes.set(top, await reading);
    }
  }

  async #load(dir: string): Promise<void> {
    const text = await this.#readText(join(dir, '.gitignore'));
    if (text !== undefined) this.#ignoreFiles.set(dir, text);
    const gitDir = dir === '' ? '.git' : await this.#repositoryAt(dir);
    if (gitDir === undefined) return;
    const common = await this.#commonDirOf(gitDir);
    const exclude = await this.#readText(join(common, 'info/exclude'));
    const config = await this.#readText(join(common, 'config'));
    this.#gitDirs.set(dir, gitDir);
    this.#repositories.set(dir, { exclude, config });
  }

  /** The directory of git's own files, where `dir` is the top of a work tree. The same check as git's. */
  async #repositoryAt(dir: string): Promise<string | undefined> {
    const file = join(dir, '.git');
    const kind = await this.#kindOf(file);
    const gitDir = kind === 'file' ? inBase(dir, POINTER.exec((await this.#readText(file)) ?? '')?.[1]) : file;
    if (kind === undefined || gitDir === undefined || (await this.#kindOf(join(gitDir, 'HEAD'))) === undefined)
      return undefined;
    return (await this.#kindOf(join(await this.#commonDirOf(gitDir), 'objects'))) === 'dir' ? gitDir : undefined;
  }

  /** Of a linked worktree: the repository that it belongs to, where the base has it (gitrepository-layout(5)). */
  async #commonDirOf(gitDir: string): Promise<string> {
    const named = (await this.#readText(join(gitDir, 'commondir')))?.trim();
    return inBase(gitDir, named) ?? gitDir;
  }

  async #readIndex(top: string): Promise<Buffer | undefined> {
    const gitDir = this.#gitDirs.get(top);
    return gitDir === undefined ? undefined : this.#read(join(gitDir, 'index'), MAX_INDEX_BYTES);
  }

  async #kindOf(path: string): Promise<string | undefined> {
    return (await this.#collector.stat('base', path as RelPath))?.kind;
  }

  async #readText(file: string): Promise<string | undefined> {
    return (await this.#read(file, MAX_IGNORE_FILE_BYTES))?.toString('utf8');
  }

  /** Undefined for what is not a file, is empty, or has more than `max` bytes. */
  async #read(file: string, max: number): Promise<Buffer | undefined> {
    const entry = await this.#collector.stat('base', file as RelPath);
    if (entry?.kind !== 'file' || entry.size === 0 || entry.size > max) return undefined;
    const chunks: Buffer[] = [];
    for await (const chunk of this.#collector.readUpTo('base', file as RelPath, max)) chunks.push(chunk);
    return Buffer.concat(chunks);
  }
}

/** What a file `.git` says about where git's own files are. The copy has it relative where they are in the project. */
const POINTER = /^gitdir: ([^\n]+)\n?$/;

/** A relative path from a directory of the base, unless it leads out of the base. */
function inBase(dir: string, named: string | undefined): string | undefined {
  if (named === undefined || named === '' || named.startsWith('/')) return undefined;
  const found = posix.join(dir, named);
  return found === '..' || found.startsWith('../') ? undefined : found;
}

function join(dir: string, name: string): string {
  return dir === '' ? name : `${dir}/${name}`;
}

/** A predicate for ignored paths that --include-ignored brings back. Its patterns are git's, and case-sensitive. */
export function askedBack(includeIgnored: boolean | readonly string[]): (path: string, directory: boolean) => boolean {
  if (typeof includeIgnored === 'boolean') return () => includeIgnored;
  const rules = new IgnorePatterns({ lines: includeIgnored, ignoreCase: false });
  return (path, directory) => rules.ignores(path, directory);
}

/** Counts ignored output by its topmost directory, what the session un-ignores apart. */
export class IgnoredOutput {
  readonly #sums = new Map<string, WithheldGroup>();

  add(top: string, size: number, unignored = false): void {
    const key = `${unignored ? '!' : ' '}${top}`;
    const { entries = 0, bytes = 0 } = this.#sums.get(key) ?? {};
    this.#sums.set(key, {
      directory: top,
      entries: entries + 1,
      bytes: bytes + size,
      ...(unignored ? { unignored } : {}),
    });
  }

  groups(): WithheldGroup[] {
    return [...this.#sums.values()];
  }
}

import ignore, { type Ignore } from 'ignore';
import { asBoolean, type ConfigEntry, parseConfig } from '../git/config-parse.ts';
import { isEndless } from '../git/ignore-patterns.ts';
import { indexPaths } from '../git/index-paths.ts';
import { parentPath, type RelPath } from '../text/path.ts';
import type { WithheldGroup } from '../types/entry.ts';
import type { Collector } from './client.ts';

const MAX_IGNORE_FILE_BYTES = 1 << 20;

/** The base's own ignore rules. The session's rules decide nothing. */
export interface IgnoreRules {
  /** The topmost ignored directory that holds the path, or the path itself; undefined when it is not ignored. */
  top(path: string, directory: boolean): Promise<string | undefined>;
  /** Whether a directory is ignored and its index tracks nothing below it: no change of it is anything but output. */
  whole(dir: string): Promise<boolean>;
}

/** Deeper entries are matched with no pattern: no ignored output begins there. */
const MAX_DEPTH = 100;
/** The index of a monorepo with some 500,000 files. */
const MAX_INDEX_BYTES = 1 << 26;

/**
 * Every `.gitignore` of the base on the way to a path, where the deepest has the last word, and `.git/info/exclude`. What
 * its index tracks is ignored by no rule, as in git; letter case counts unless its configuration says core.ignorecase.
 */
export function baseIgnoreRules(collector: Pick<Collector, 'stat' | 'readUpTo'>): IgnoreRules {
  return new BaseIgnoreRules(new BaseRepository(collector));
}

/** Reads the base's git files, each once. */
class BaseRepository {
  readonly #collector: Pick<Collector, 'stat' | 'readUpTo'>;
  #config: Promise<readonly ConfigEntry[]> | undefined;
  #tracked: Promise<ReadonlySet<string>> | undefined;
  #trackedDirectories: Promise<ReadonlySet<string>> | undefined;

  constructor(collector: Pick<Collector, 'stat' | 'readUpTo'>) {
    this.#collector = collector;
  }

  /** Undefined for what is not a file, is empty, or has more than `max` bytes. */
  async read(file: string, max: number): Promise<Buffer | undefined> {
    const entry = await this.#collector.stat('base', file as RelPath);
    if (entry?.kind !== 'file' || entry.size === 0 || entry.size > max) return undefined;
    const chunks: Buffer[] = [];
    for await (const chunk of this.#collector.readUpTo('base', file as RelPath, max)) chunks.push(chunk);
    return Buffer.concat(chunks);
  }

  /** The value of a key in the git configuration: the last one counts. */
  async setting(key: string): Promise<ConfigEntry | undefined> {
    this.#config ??= this.#loadConfig();
    return (await this.#config).findLast((entry) => entry.key === key);
  }

  /** Paths that the index has. */
  tracked(): Promise<ReadonlySet<string>> {
    this.#tracked ??= this.#loadTracked();
    return this.#tracked;
  }

  /** Directories that hold a path of the index, at any depth. */
  trackedDirectories(): Promise<ReadonlySet<string>> {
    this.#trackedDirectories ??= this.#loadTrackedDirectories();
    return this.#trackedDirectories;
  }

  async #loadConfig(): Promise<readonly ConfigEntry[]> {
    const text = await this.read('.git/config', MAX_IGNORE_FILE_BYTES);
    return parseConfig(text?.toString('utf8') ?? '').entries;
  }

  async #loadTracked(): Promise<ReadonlySet<string>> {
    const index = await this.read('.git/index', MAX_INDEX_BYTES);
    if (index === undefined) return new Set();
    const format = (await this.setting('extensions.objectformat'))?.value;
    return indexPaths(index, format === 'sha256' ? 32 : 20);
  }

  async #loadTrackedDirectories(): Promise<ReadonlySet<string>> {
    const dirs = new Set<string>();
    for (const path of await this.tracked()) {
      for (let dir = parentPath(path); dir !== '' && !dirs.has(dir); dir = parentPath(dir)) dirs.add(dir);
    }
    return dirs;
  }
}

class BaseIgnoreRules implements IgnoreRules {
  readonly #repository: BaseRepository;
  /** By directory: the patterns of its ignore files. */
  readonly #patterns = new Map<string, Promise<Ignore | undefined>>();
  /** By directory: the topmost ignored directory that holds it. */
  readonly #tops = new Map<string, Promise<string | undefined>>();

  constructor(repository: BaseRepository) {
    this.#repository = repository;
  }

  async whole(dir: string): Promise<boolean> {
    if ((await this.#topOfDirectory(dir)) === undefined) return false;
    return !(await this.#repository.trackedDirectories()).has(dir);
  }

  async top(path: string, directory: boolean): Promise<string | undefined> {
    const top = await (directory ? this.#topOfDirectory(path) : this.#findTop(path, false));
    if (top === undefined || directory) return top;
    return (await this.#repository.tracked()).has(path) ? undefined : top;
  }

  #topOfDirectory(dir: string): Promise<string | undefined> {
    const known = this.#tops.get(dir);
    if (known !== undefined) return known;
    const finding = this.#findTop(dir, true);
    this.#tops.set(dir, finding);
    return finding;
  }

  async #findTop(path: string, directory: boolean): Promise<string | undefined> {
    const parent = parentPath(path);
    const above = parent === '' ? undefined : await this.#topOfDirectory(parent);
    if (above !== undefined) return above;
    return (await this.#isMatched(path, directory)) ? path : undefined;
  }

  async #isMatched(path: string, directory: boolean): Promise<boolean> {
    if (path.split('/').length > MAX_DEPTH) return false;
    for (let dir = parentPath(path); ; dir = parentPath(dir)) {
      const patterns = await this.#patternsIn(dir);
      const relative = dir === '' ? path : path.slice(dir.length + 1);
      const verdict = patterns?.test(directory ? `${relative}/` : relative);
      if (verdict?.ignored) return true;
      if (verdict?.unignored || dir === '') return false;
    }
  }

  #patternsIn(dir: string): Promise<Ignore | undefined> {
    const known = this.#patterns.get(dir);
    if (known !== undefined) return known;
    const loading = this.#loadPatterns(dir === '' ? ['.git/info/exclude', '.gitignore'] : [`${dir}/.gitignore`]);
    this.#patterns.set(dir, loading);
    return loading;
  }

  async #loadPatterns(files: readonly string[]): Promise<Ignore | undefined> {
    const texts: string[] = [];
    for (const file of files) {
      const text = await this.#repository.read(file, MAX_IGNORE_FILE_BYTES);
      if (text !== undefined) texts.push(text.toString('utf8'));
    }
    if (texts.length === 0) return undefined;
    const caseless = await this.#repository.setting('core.ignorecase');
    const ignorecase = caseless !== undefined && asBoolean(caseless.value) === true;
    // A path that no pattern matches is shown, which is the safe side.
    const lines = texts.join('\n').split('\n');
    return ignore({ ignorecase }).add(lines.filter((line) => !isEndless(line)).join('\n'));
  }
}

/** A predicate for ignored paths that --include-ignored brings back. Its patterns are git's, and case-sensitive. */
export function askedBack(includeIgnored: boolean | readonly string[]): (path: string, directory: boolean) => boolean {
  if (typeof includeIgnored === 'boolean') return () => includeIgnored;
  const rules = ignore({ ignorecase: false }).add([...includeIgnored]);
  return (path, directory) => rules.ignores(directory ? `${path}/` : path);
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

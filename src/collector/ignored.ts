import ignore, { type Ignore } from 'ignore';
import { asBoolean, type ConfigEntry, parseConfig } from '../git/config-parse.ts';
import { isEndless } from '../git/ignore-patterns.ts';
import { indexPaths } from '../git/index-paths.ts';
import { parentPath, type RelPath } from '../text/path.ts';
import type { WithheldGroup } from '../types/entry.ts';
import type { Collector } from './client.ts';

const IGNORE_FILE_MAX = 1 << 20;

/** Answers what the base's own ignore rules match; the session's rules decide nothing. */
export interface IgnoreRules {
  /** The topmost ignored directory that holds the path, or the path itself; undefined when it is not ignored. */
  top(path: string, directory: boolean): Promise<string | undefined>;
  /** Whether a directory is ignored and its index tracks nothing below it: no change of it is anything but output. */
  whole(dir: string): Promise<boolean>;
}

/** In what lies deeper no pattern is looked for: nobody's ignored output begins there. */
const DEEPEST = 100;
/** Of a monorepo with some 500,000 files. */
const INDEX_FILE_MAX = 1 << 26;

/**
 * Every `.gitignore` of the base on the way to a path, the deepest last word, and `.git/info/exclude`. What its index
 * tracks is ignored by no rule, as in git; letter case counts unless its configuration says core.ignorecase.
 */
export function baseIgnoreRules(collector: Pick<Collector, 'stat' | 'readUpTo'>): IgnoreRules {
  const files = new Map<string, Promise<Ignore | undefined>>();
  const directories = new Map<string, Promise<string | undefined>>();

  let tracked: Promise<ReadonlySet<string>> | undefined;
  let config: Promise<readonly ConfigEntry[]> | undefined;
  let trackedDirs: Promise<ReadonlySet<string>> | undefined;

  const read = async (one: string, max: number): Promise<Buffer | undefined> => {
    const entry = await collector.stat('base', one as RelPath);
    if (entry?.kind !== 'file' || entry.size === 0 || entry.size > max) return undefined;
    const chunks: Buffer[] = [];
    for await (const chunk of collector.readUpTo('base', one as RelPath, max)) chunks.push(chunk);
    return Buffer.concat(chunks);
  };
  const loadConfig = async (): Promise<readonly ConfigEntry[]> => {
    const text = await read('.git/config', IGNORE_FILE_MAX);
    return parseConfig(text?.toString('utf8') ?? '').entries;
  };
  /** The last word of the base's git configuration. */
  const setting = async (key: string): Promise<ConfigEntry | undefined> => {
    config ??= loadConfig();
    return (await config).findLast((entry) => entry.key === key);
  };
  const loadTracked = async (): Promise<ReadonlySet<string>> => {
    const index = await read('.git/index', INDEX_FILE_MAX);
    if (index === undefined) return new Set();
    const format = (await setting('extensions.objectformat'))?.value;
    return indexPaths(index, format === 'sha256' ? 32 : 20);
  };
  const load = async (paths: readonly string[]): Promise<Ignore | undefined> => {
    const texts: string[] = [];
    for (const one of paths) {
      const text = await read(one, IGNORE_FILE_MAX);
      if (text !== undefined) texts.push(text.toString('utf8'));
    }
    if (texts.length === 0) return undefined;
    const caseless = await setting('core.ignorecase');
    const ignorecase = caseless !== undefined && asBoolean(caseless.value) === true;
    // What no pattern matches is shown: the safe side.
    const patterns = texts
      .join('\n')
      .split('\n')
      .filter((line) => !isEndless(line));
    return ignore({ ignorecase }).add(patterns.join('\n'));
  };
  const rulesIn = (dir: string): Promise<Ignore | undefined> => {
    const known = files.get(dir);
    if (known !== undefined) return known;
    const loading = load(dir === '' ? ['.git/info/exclude', '.gitignore'] : [`${dir}/.gitignore`]);
    files.set(dir, loading);
    return loading;
  };
  const matched = async (path: string, directory: boolean): Promise<boolean> => {
    if (path.split('/').length > DEEPEST) return false;
    for (let dir = parentPath(path); ; dir = parentPath(dir)) {
      const rules = await rulesIn(dir);
      const relative = dir === '' ? path : path.slice(dir.length + 1);
      const verdict = rules?.test(directory ? `${relative}/` : relative);
      if (verdict?.ignored) return true;
      if (verdict?.unignored || dir === '') return false;
    }
  };
  const topOf = async (path: string, directory: boolean): Promise<string | undefined> => {
    const parent = parentPath(path);
    const above = parent === '' ? undefined : await topDirectory(parent);
    if (above !== undefined) return above;
    return (await matched(path, directory)) ? path : undefined;
  };
  const topDirectory = (dir: string): Promise<string | undefined> => {
    const known = directories.get(dir);
    if (known !== undefined) return known;
    const asking = topOf(dir, true);
    directories.set(dir, asking);
    return asking;
  };
  const holdingTracked = async (): Promise<ReadonlySet<string>> => {
    tracked ??= loadTracked();
    const dirs = new Set<string>();
    for (const path of await tracked) {
      for (let dir = parentPath(path); dir !== '' && !dirs.has(dir); dir = parentPath(dir)) dirs.add(dir);
    }
    return dirs;
  };
  return {
    async whole(dir) {
      if ((await topDirectory(dir)) === undefined) return false;
      trackedDirs ??= holdingTracked();
      return !(await trackedDirs).has(dir);
    },
    async top(path, directory) {
      const top = await (directory ? topDirectory(path) : topOf(path, false));
      if (top === undefined || directory) return top;
      tracked ??= loadTracked();
      return (await tracked).has(path) ? undefined : top;
    },
  };
}

/** Whether --include-ignored asks for a path after all. Its patterns are git's; letter case counts. */
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

import { parentPath } from '../text/path.ts';
import { IgnorePatterns, linesOfIgnoreFile } from '../text/patterns/ignore-patterns.ts';
import { asBoolean, type ConfigEntry, parseConfig } from './config-parse.ts';

/** Deeper entries are matched with no pattern: they are not ignored by themselves. */
const MAX_DEPTH = 100;

/** What a repository adds to the `.gitignore` files of its tree. */
export interface RepositoryRules {
  /** The text of `info/exclude`. */
  readonly exclude?: string | undefined;
  /** The text of its configuration. */
  readonly config?: string | undefined;
}

/** The files of git that decide what is ignored, by directory of the project. Each is asked for once. */
export interface IgnoreSources {
  /** The text of the `.gitignore` of a directory. */
  ignoreFile(dir: string): string | undefined;
  /** Undefined where a directory is not the top of a repository. The project counts as one in any case. */
  repository(dir: string): RepositoryRules | undefined;
  /** The paths that the index of the repository at `top` has, from there; undefined where they cannot be known. */
  tracked(top: string, objectNameBytes: 20 | 32): ReadonlySet<string> | undefined;
}

/**
 * What git ignores in a project, as git decides it: every `.gitignore` on the way to a path, where the deepest has the last
 * word, and `info/exclude`. A repository inside the project has rules and its own index. Answers without waiting.
 */
export class IgnoredPaths {
  readonly #sources: IgnoreSources;
  /** By directory: the repositories that it is in, the innermost first. */
  readonly #around = new Map<string, readonly Repository[]>();

  constructor(sources: IgnoreSources) {
    this.#sources = sources;
  }

  /** Whether a rule of the innermost repository matches a path, or a directory of this repository that holds it. */
  matches(path: string, directory: boolean): boolean {
    const parts = path.split('/');
    if (parts.length > MAX_DEPTH || parts.includes('.git')) return false;
    return this.#repositoriesOf(parentPath(path))[0]?.ignores(path, directory) === true;
  }

  /** Whether a repository around a path has it in its index, a submodule included. True where its index cannot tell. */
  mayTrack(path: string): boolean {
    return this.#repositoriesOf(parentPath(path)).some((one) => one.mayTrack(path));
  }

  /** Whether a repository around a path has it in its index. False where its index cannot tell. */
  tracks(path: string): boolean {
    return this.#repositoriesOf(parentPath(path)).some((one) => one.tracks(path));
  }

  /** Whether a repository around a directory has a path below it in its index. True where its index cannot tell. */
  mayTrackBelow(dir: string): boolean {
    return this.#repositoriesOf(parentPath(dir)).some((one) => one.mayTrackBelow(dir));
  }

  /** The directories of the repositories that what is in `dir` belongs to, the innermost first. */
  topsAround(dir: string): readonly string[] {
    return this.#repositoriesOf(dir).map((one) => one.top);
  }

  #repositoriesOf(dir: string): readonly Repository[] {
    const known = this.#around.get(dir);
    if (known !== undefined) return known;
    const outer = dir === '' ? [] : this.#repositoriesOf(parentPath(dir));
    const rules = this.#sources.repository(dir) ?? (dir === '' ? {} : undefined);
    const all = rules === undefined ? outer : [new Repository(dir, rules, this.#sources), ...outer];
    this.#around.set(dir, all);
    return all;
  }
}

interface Tracked {
  readonly paths: ReadonlySet<string>;
  readonly directories: ReadonlySet<string>;
}

/** The rules and the index of one repository of the project. Paths begin at the project. */
class Repository {
  /** Its directory in the project. */
  readonly top: string;
  readonly #exclude: string | undefined;
  readonly #settings: readonly ConfigEntry[];
  readonly #sources: IgnoreSources;
  readonly #rules = new Map<string, IgnorePatterns | undefined>();
  /** By directory: whether it or one above it is ignored. */
  readonly #directories = new Map<string, boolean>();
  #index: { readonly tracked: Tracked | undefined } | undefined;

  constructor(top: string, { exclude, config }: RepositoryRules, sources: IgnoreSources) {
    this.top = top;
    this.#exclude = exclude;
    this.#settings = config === undefined ? [] : parseConfig(config).entries;
    this.#sources = sources;
  }

  ignores(path: string, directory: boolean): boolean {
    if (!directory) return this.#isMatched(path, false);
    const known = this.#directories.get(path);
    if (known !== undefined) return known;
    const found = this.#isMatched(path, true);
    this.#directories.set(path, found);
    return found;
  }

  mayTrack(path: string): boolean {
    const tracked = this.#tracked();
    return tracked === undefined || tracked.paths.has(below(this.top, path));
  }

  tracks(path: string): boolean {
    return this.#tracked()?.paths.has(below(this.top, path)) === true;
  }

  mayTrackBelow(dir: string): boolean {
    const tracked = this.#tracked();
    return tracked === undefined || tracked.directories.has(below(this.top, dir));
  }

  #isMatched(path: string, directory: boolean): boolean {
    const parent = parentPath(path);
    if (parent !== this.top && this.ignores(parent, true)) return true;
    for (let dir = parent; ; dir = parentPath(dir)) {
      // No directory of the path is ignored, so the path is matched by itself.
      const verdict = this.#rulesIn(dir)?.verdict(below(dir, path), directory);
      if (verdict !== undefined) return verdict === 'ignored';
      if (dir === this.top) return false;
    }
  }

  #rulesIn(dir: string): IgnorePatterns | undefined {
    if (this.#rules.has(dir)) return this.#rules.get(dir);
    const texts = [dir === this.top ? this.#exclude : undefined, this.#sources.ignoreFile(dir)];
    const lines = texts.flatMap((text) => (text === undefined ? [] : linesOfIgnoreFile(text)));
    const ignoreCase = asBoolean(this.#setting('core.ignorecase') ?? 'false') === true;
    const rules = lines.length === 0 ? undefined : new IgnorePatterns({ lines, ignoreCase });
    this.#rules.set(dir, rules);
    return rules;
  }

  #tracked(): Tracked | undefined {
    this.#index ??= { tracked: this.#readIndex() };
    return this.#index.tracked;
  }

  #readIndex(): Tracked | undefined {
    const paths = this.#sources.tracked(this.top, this.#setting('extensions.objectformat') === 'sha256' ? 32 : 20);
    if (paths === undefined) return undefined;
    const directories = new Set<string>();
    for (const path of paths)
      for (let dir = parentPath(path); dir !== '' && !directories.has(dir); dir = parentPath(dir)) directories.add(dir);
    return { paths, directories };
  }

  /** The value of a key in the configuration: the last one counts. */
  #setting(key: string): string | undefined {
    return this.#settings.findLast((entry) => entry.key === key)?.value ?? undefined;
  }
}

function below(dir: string, path: string): string {
  return dir === '' ? path : path.slice(dir.length + 1);
}

import { lstatSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { asBoolean, parseConfig } from '../git/config-parse.ts';
import { isEndless } from '../git/ignore-patterns.ts';
import { allIndexPaths } from '../git/index-paths.ts';
import { parentPath } from '../text/path.ts';
import { gitDirOf } from './git-grafts.ts';
import type { Selection } from './selection.ts';

const MAX_IGNORE_FILE_BYTES = 1 << 20;
/** The index of a monorepo with some 500,000 files. */
const MAX_INDEX_BYTES = 1 << 26;

/**
 * A selection that also leaves out what the project's ignore rules match and its index does not track: every `.gitignore`
 * on the way to a path, where the deepest has the last word, and `.git/info/exclude`. A repository inside the project has
 * rules and an index of its own. Where an index cannot be used, nothing below its repository is left out. `include`:
 * patterns of what is copied in spite of that.
 */
export function withoutIgnored(selection: Selection, root: string, include: readonly string[]): Selection {
  const ignores = new ProjectIgnores(root);
  const included = ignore({ ignorecase: false }).add([...include]);
  return {
    any: true,
    masked: selection.masked,
    leftOut: (one, directory) =>
      selection.leftOut(one, directory) ||
      (ignores.has(one, directory) && !included.ignores(directory ? `${one}/` : one)),
  };
}

/** The ignore rules of a project on this machine, each file read once, when a path below it is first asked about. */
class ProjectIgnores {
  readonly #root: string;
  /** By directory: the repositories that it is in, the innermost first. The project counts as one in any case. */
  readonly #around = new Map<string, readonly RepositoryIgnores[]>();

  constructor(root: string) {
    this.#root = root;
  }

  /** Whether the innermost repository of a path ignores it, and none of those around it tracks it or may track it. */
  has(one: string, directory: boolean): boolean {
    if (one.split('/').includes('.git')) return false;
    const around = this.#repositoriesOf(parentPath(one));
    return (
      around[0]?.ignores(one, directory) === true && !around.some((repository) => repository.mayTrack(one, directory))
    );
  }

  #repositoriesOf(dir: string): readonly RepositoryIgnores[] {
    const known = this.#around.get(dir);
    if (known !== undefined) return known;
    const outer = dir === '' ? [] : this.#repositoriesOf(parentPath(dir));
    const gitDir = dir === '' ? gitDirOf(this.#root) : repositoryAt(path.join(this.#root, dir));
    const isOne = dir === '' || gitDir !== undefined;
    const all = isOne ? [new RepositoryIgnores(this.#root, dir, gitDir), ...outer] : outer;
    this.#around.set(dir, all);
    return all;
  }
}

/** The directory of git's own files, where `dir` is the top of a work tree. The same check as git's. */
function repositoryAt(dir: string): string | undefined {
  try {
    const gitDir = gitDirOf(dir);
    const isRepository =
      gitDir !== undefined &&
      lstatSync(path.join(gitDir, 'HEAD'), { throwIfNoEntry: false }) !== undefined &&
      statSync(path.join(commonDirOf(gitDir), 'objects'), { throwIfNoEntry: false })?.isDirectory() === true;
    return isRepository ? gitDir : undefined;
  } catch {
    // The walk meets it too, and reports it.
    return undefined;
  }
}

/** Of a linked worktree: the repository that it belongs to (gitrepository-layout(5)). */
function commonDirOf(gitDir: string): string {
  const named = read(path.join(gitDir, 'commondir'), MAX_IGNORE_FILE_BYTES)?.toString('utf8').trim();
  return named === undefined || named === '' ? gitDir : path.resolve(gitDir, named);
}

interface Tracked {
  readonly paths: ReadonlySet<string>;
  readonly directories: ReadonlySet<string>;
}

/** The rules and the index of one repository of the project. Paths begin at the project. */
class RepositoryIgnores {
  readonly #root: string;
  /** Its directory in the project. */
  readonly #top: string;
  readonly #gitDir: string | undefined;
  readonly #patterns = new Map<string, Ignore | undefined>();
  /** By directory, and the one above the path that is matched. */
  readonly #matchers = new Map<string, Ignore | undefined>();
  /** By directory: whether it or one above it is ignored. */
  readonly #directories = new Map<string, boolean>();
  #index: { readonly tracked: Tracked | undefined } | undefined;
  #config: ReturnType<typeof parseConfig>['entries'] | undefined;

  constructor(root: string, top: string, gitDir: string | undefined) {
    this.#root = root;
    this.#top = top;
    this.#gitDir = gitDir;
  }

  ignores(one: string, directory: boolean): boolean {
    if (!directory) return this.#isMatched(one, false);
    const known = this.#directories.get(one);
    if (known !== undefined) return known;
    const found = this.#isMatched(one, true);
    this.#directories.set(one, found);
    return found;
  }

  /** True for every path where the index cannot tell. */
  mayTrack(one: string, directory: boolean): boolean {
    this.#index ??= { tracked: this.#readTracked() };
    const { tracked } = this.#index;
    if (tracked === undefined) return true;
    const relative = below(this.#top, one);
    // A submodule is a path of the index, and a directory.
    return tracked.paths.has(relative) || (directory && tracked.directories.has(relative));
  }

  #isMatched(one: string, directory: boolean): boolean {
    const parent = parentPath(one);
    if (parent !== this.#top && this.ignores(parent, true)) return true;
    for (let dir = parent; ; dir = parentPath(dir)) {
      const relative = below(dir, one);
      const verdict = this.#matcher(dir, parent)?.test(directory ? `${relative}/` : relative);
      if (verdict?.ignored === true) return true;
      if (verdict?.unignored === true || dir === this.#top) return false;
    }
  }

  /**
   * The patterns of a directory for what is in `parent`, which is not ignored. Where these patterns alone would ignore it, a
   * deeper file has the last word on it: what it holds is matched by itself then, not as part of it.
   */
  #matcher(dir: string, parent: string): Ignore | undefined {
    const patterns = this.#patternsIn(dir);
    if (patterns === undefined || parent === dir || !patterns.ignores(`${below(dir, parent)}/`)) return patterns;
    const key = `${dir}\0${parent}`;
    const known = this.#matchers.get(key);
    if (known !== undefined) return known;
    const again: string[] = [];
    for (let above = parent; above !== dir; above = parentPath(above)) again.push(`!/${literal(below(dir, above))}/`);
    const made = ignore({ ignorecase: false }).add(patterns).add(again);
    this.#matchers.set(key, made);
    return made;
  }

  #patternsIn(dir: string): Ignore | undefined {
    if (this.#patterns.has(dir)) return this.#patterns.get(dir);
    const files = [path.join(this.#root, dir, '.gitignore')];
    if (dir === this.#top && this.#gitDir !== undefined)
      files.unshift(path.join(commonDirOf(this.#gitDir), 'info/exclude'));
    const lines = files.flatMap((file) => read(file, MAX_IGNORE_FILE_BYTES)?.toString('utf8').split('\n') ?? []);
    const ignorecase = asBoolean(this.#setting('core.ignorecase') ?? 'false') === true;
    const usable = lines.filter((line) => !isEndless(line));
    const patterns = usable.length === 0 ? undefined : ignore({ ignorecase }).add(usable.join('\n'));
    this.#patterns.set(dir, patterns);
    return patterns;
  }

  /** Undefined where there is an index and it cannot be used. */
  #readTracked(): Tracked | undefined {
    const file = this.#gitDir === undefined ? undefined : path.join(this.#gitDir, 'index');
    if (file === undefined || lstatSync(file, { throwIfNoEntry: false }) === undefined)
      return { paths: new Set(), directories: new Set() };
    const index = read(file, MAX_INDEX_BYTES);
    const isSha256 = this.#setting('extensions.objectformat') === 'sha256';
    const paths = index === undefined ? undefined : allIndexPaths(index, isSha256 ? 32 : 20);
    if (paths === undefined) return undefined;
    const directories = new Set<string>();
    for (const one of paths)
      for (let dir = parentPath(one); dir !== '' && !directories.has(dir); dir = parentPath(dir)) directories.add(dir);
    return { paths, directories };
  }

  #setting(key: string): string | undefined {
    if (this.#gitDir === undefined) return undefined;
    this.#config ??= parseConfig(
      read(path.join(commonDirOf(this.#gitDir), 'config'), MAX_IGNORE_FILE_BYTES)?.toString('utf8') ?? '',
    ).entries;
    return this.#config.findLast((entry) => entry.key === key)?.value ?? undefined;
  }
}

function below(dir: string, one: string): string {
  return dir === '' ? one : one.slice(dir.length + 1);
}

/** A pattern for this name and no other. */
function literal(name: string): string {
  return name.replace(/[\\*?[\] ]/g, '\\$&');
}

/** Undefined for what is not a file of a usable size. */
function read(file: string, maxBytes: number): Buffer | undefined {
  try {
    const stat = lstatSync(file, { throwIfNoEntry: false });
    return stat?.isFile() === true && stat.size <= maxBytes ? readFileSync(file) : undefined;
  } catch {
    // The walk meets it too, and reports it.
    return undefined;
  }
}

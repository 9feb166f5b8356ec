import { lstatSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { asBoolean, parseConfig } from '../git/config-parse.ts';
import { isEndless } from '../git/ignore-patterns.ts';
import { indexPaths } from '../git/index-paths.ts';
import { parentPath } from '../text/path.ts';
import { gitDirOf } from './git-grafts.ts';
import type { Selection } from './selection.ts';

const MAX_IGNORE_FILE_BYTES = 1 << 20;
/** The index of a monorepo with some 500,000 files. */
const MAX_INDEX_BYTES = 1 << 26;

/**
 * A selection that also leaves out what the project's ignore rules match and its index does not track: every `.gitignore`
 * on the way to a path, where the deepest has the last word, and `.git/info/exclude`. `include`: patterns of what is copied
 * in spite of that.
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
  readonly #gitDir: string | undefined;
  readonly #patterns = new Map<string, Ignore | undefined>();
  /** By directory: whether it or one above it is ignored. */
  readonly #directories = new Map<string, boolean>();
  #index: { readonly paths: ReadonlySet<string>; readonly directories: ReadonlySet<string> } | undefined;
  #config: ReturnType<typeof parseConfig>['entries'] | undefined;

  constructor(root: string) {
    this.#root = root;
    this.#gitDir = gitDirOf(root);
  }

  has(one: string, directory: boolean): boolean {
    if (one === '.git' || one.startsWith('.git/')) return false;
    if (!(directory ? this.#isIgnoredDirectory(one) : this.#isMatched(one, false))) return false;
    return !(directory ? this.#tracked().directories : this.#tracked().paths).has(one);
  }

  #isIgnoredDirectory(dir: string): boolean {
    const known = this.#directories.get(dir);
    if (known !== undefined) return known;
    const found = this.#isMatched(dir, true);
    this.#directories.set(dir, found);
    return found;
  }

  #isMatched(one: string, directory: boolean): boolean {
    const parent = parentPath(one);
    if (parent !== '' && this.#isIgnoredDirectory(parent)) return true;
    for (let dir = parent; ; dir = parentPath(dir)) {
      const relative = dir === '' ? one : one.slice(dir.length + 1);
      const verdict = this.#patternsIn(dir)?.test(directory ? `${relative}/` : relative);
      if (verdict?.ignored === true) return true;
      if (verdict?.unignored === true || dir === '') return false;
    }
  }

  #patternsIn(dir: string): Ignore | undefined {
    if (this.#patterns.has(dir)) return this.#patterns.get(dir);
    const files = [path.join(this.#root, dir, '.gitignore')];
    if (dir === '' && this.#gitDir !== undefined) files.unshift(path.join(this.#commonDir(), 'info/exclude'));
    const lines = files.flatMap((file) => read(file, MAX_IGNORE_FILE_BYTES)?.toString('utf8').split('\n') ?? []);
    const ignorecase = asBoolean(this.#setting('core.ignorecase') ?? 'false') === true;
    const usable = lines.filter((line) => !isEndless(line));
    const patterns = usable.length === 0 ? undefined : ignore({ ignorecase }).add(usable.join('\n'));
    this.#patterns.set(dir, patterns);
    return patterns;
  }

  #tracked() {
    if (this.#index !== undefined) return this.#index;
    const index = this.#gitDir === undefined ? undefined : read(path.join(this.#gitDir, 'index'), MAX_INDEX_BYTES);
    const isSha256 = this.#setting('extensions.objectformat') === 'sha256';
    const paths = index === undefined ? new Set<string>() : indexPaths(index, isSha256 ? 32 : 20);
    const directories = new Set<string>();
    for (const one of paths)
      for (let dir = parentPath(one); dir !== '' && !directories.has(dir); dir = parentPath(dir)) directories.add(dir);
    this.#index = { paths, directories };
    return this.#index;
  }

  #setting(key: string): string | undefined {
    if (this.#gitDir === undefined) return undefined;
    this.#config ??= parseConfig(
      read(path.join(this.#commonDir(), 'config'), MAX_IGNORE_FILE_BYTES)?.toString('utf8') ?? '',
    ).entries;
    return this.#config.findLast((entry) => entry.key === key)?.value ?? undefined;
  }

  /** Of a linked worktree: the repository that it belongs to (gitrepository-layout(5)). */
  #commonDir(): string {
    const own = this.#gitDir ?? '';
    const named = read(path.join(own, 'commondir'), MAX_IGNORE_FILE_BYTES)?.toString('utf8').trim();
    return named === undefined || named === '' ? own : path.resolve(own, named);
  }
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

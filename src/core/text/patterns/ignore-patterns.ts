import { type IgnorePattern, parseIgnoreLine } from './ignore-pattern.ts';

export interface IgnoreLines {
  /** In gitignore's language. The last one that matches decides. */
  readonly lines: readonly string[];
  readonly ignoreCase: boolean;
}

/** A longer line matches nothing: no path is as long. */
const MAX_LINE_CHARS = 10_000;

/** A folder of the paths that were asked for. */
interface Folder {
  readonly folders: Map<string, Folder>;
  readonly isIgnored: boolean;
}

/**
 * Patterns in gitignore's language, for paths from one folder on. What matching costs is bounded: a path takes at most as
 * many steps as it has characters, times the characters of the patterns.
 */
export class IgnorePatterns {
  /** All but those for one name, the last one first. */
  readonly #patterns: (readonly [number, IgnorePattern])[] = [];
  /** By name, the last one first. */
  readonly #literals = new Map<string, (readonly [number, IgnorePattern])[]>();
  readonly #foldsLiterals = { exact: false, folded: false };
  readonly #top: Folder = { folders: new Map(), isIgnored: false };

  constructor(...groups: readonly IgnoreLines[]) {
    let index = 0;
    for (const { lines, ignoreCase } of groups)
      for (const line of lines) {
        const pattern = line.length > MAX_LINE_CHARS ? undefined : parseIgnoreLine(line, ignoreCase);
        if (pattern === undefined) continue;
        this.#add([index, pattern], ignoreCase);
        index += 1;
      }
    this.#patterns.reverse();
    for (const some of this.#literals.values()) some.reverse();
  }

  /** Whether a path is ignored: by itself, or because a folder that it is in is. */
  ignores(path: string, directory: boolean): boolean {
    let folder = this.#top;
    for (let from = 0; ; ) {
      const end = path.indexOf('/', from);
      if (end < 0) break;
      const name = path.slice(from, end);
      let next = folder.folders.get(name);
      if (next === undefined) {
        next = { folders: new Map(), isIgnored: this.verdict(path.slice(0, end), true) === 'ignored' };
        folder.folders.set(name, next);
      }
      if (next.isIgnored) return true;
      folder = next;
      from = end + 1;
    }
    return this.verdict(path, directory) === 'ignored';
  }

  /** What the patterns say of a path by itself, without the folders that it is in. */
  verdict(path: string, directory: boolean): 'ignored' | 'unignored' | undefined {
    const name = path.slice(path.lastIndexOf('/') + 1);
    let best = this.#literalFor(name, directory);
    for (const one of this.#patterns) {
      if (best !== undefined && one[0] < best[0]) break;
      if ((directory || !one[1].isForDirectories) && one[1].matches(path, name)) {
        best = one;
        break;
      }
    }
    if (best === undefined) return undefined;
    return best[1].isNegative ? 'unignored' : 'ignored';
  }

  #literalFor(name: string, directory: boolean): readonly [number, IgnorePattern] | undefined {
    const { exact, folded } = this.#foldsLiterals;
    const find = (key: string): readonly [number, IgnorePattern] | undefined =>
      this.#literals.get(key)?.find(([, one]) => (directory || !one.isForDirectories) && one.matches(name, name));
    const one = exact || folded ? find(name) : undefined;
    const other = folded && name.toLowerCase() !== name ? find(name.toLowerCase()) : undefined;
    if (one === undefined || other === undefined) return one ?? other;
    return one[0] > other[0] ? one : other;
  }

  #add(one: readonly [number, IgnorePattern], ignoreCase: boolean): void {
    const { literalName } = one[1];
    if (literalName === undefined) {
      this.#patterns.push(one);
      return;
    }
    this.#foldsLiterals[ignoreCase ? 'folded' : 'exact'] = true;
    const known = this.#literals.get(literalName);
    if (known === undefined) this.#literals.set(literalName, [one]);
    else known.push(one);
  }
}

/** The lines of an ignore file. A byte order mark, and the CR of an end of line, are not part of them. */
export function linesOfIgnoreFile(text: string): string[] {
  return text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .map((line, index, all) => (index < all.length - 1 && line.endsWith('\r') ? line.slice(0, -1) : line));
}

import { lstatSync, readdirSync, readlinkSync } from 'node:fs';

/** What is at a path: a link with its target, a folder by device and inode, or anything else. */
export type FoundEntry =
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'folder'; readonly id: string }
  | { readonly kind: 'other' };

/**
 * Reads entries, each once. A folder of programs has hundreds of links into a few other folders, and every command judges
 * them: from the second entry on, the names of a folder are read together.
 */
export class EntryReader {
  readonly #entries = new Map<string, FoundEntry | undefined>();
  readonly #asked = new Set<string>();
  readonly #others = new Map<string, ReadonlySet<string>>();

  /** The entry of a folder whose path has no links; undefined where there is none. */
  read(folder: string, name: string): FoundEntry | undefined {
    const file = folder === '/' ? `/${name}` : `${folder}/${name}`;
    if (this.#entries.has(file)) return this.#entries.get(file);
    const entry = this.#othersIn(folder)?.has(name) === true ? OTHER : entryAt(file);
    this.#entries.set(file, entry);
    return entry;
  }

  /** The names in a folder that are neither links nor folders; undefined for the first question. */
  #othersIn(folder: string): ReadonlySet<string> | undefined {
    const known = this.#others.get(folder);
    if (known !== undefined) return known;
    if (!this.#asked.has(folder)) {
      this.#asked.add(folder);
      return undefined;
    }
    const names = namesOfFiles(folder);
    this.#others.set(folder, names);
    return names;
  }
}

const OTHER: FoundEntry = { kind: 'other' };

function entryAt(file: string): FoundEntry | undefined {
  try {
    return { kind: 'link', target: readlinkSync(file) };
  } catch (error) {
    // EINVAL: it is there, and is not a link.
    if ((error as NodeJS.ErrnoException).code !== 'EINVAL') return undefined;
  }
  try {
    const stats = lstatSync(file);
    return stats.isDirectory() ? { kind: 'folder', id: `${stats.dev}:${stats.ino}` } : OTHER;
  } catch {
    return undefined;
  }
}

function namesOfFiles(folder: string): ReadonlySet<string> {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return new Set(entries.filter((entry) => entry.isFile()).map(({ name }) => name));
  } catch {
    return new Set();
  }
}

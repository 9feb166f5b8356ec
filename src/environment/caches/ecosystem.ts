import type { CacheName } from '../../core/types/setup/cache.ts';

/**
 * Hash functions that nobody finds two archives for. go-mod and go-zip are the h1 of go.sum (golang.org/x/mod, sumdb/dirhash):
 * a SHA-256 over the SHA-256 of one go.mod, or of each file in an archive.
 */
export type HashName = 'sha256' | 'sha384' | 'sha512' | 'go-mod' | 'go-zip';

export interface Hash {
  readonly name: HashName;
  readonly hex: string;
}

/** The files of one release of a Python package, as its index names them (PEP 691), by their hashes. */
export interface ReleaseFiles {
  readonly package: string;
  readonly version: string;
  readonly sha256: readonly string[];
}

/** An archive that a lock file names, as it is fetched and kept. */
export interface Archive {
  /** For messages: 'left-pad 1.3.0'. */
  readonly name: string;
  readonly url: string;
  /** Its content, where run-claude makes it: nothing is fetched. */
  readonly text?: string;
  /** Its files, any of which the tool may take: `url` is the index of the package, which names them, and `path` is not used. */
  readonly release?: ReleaseFiles;
  /**
   * Archives of the same cache, by path, whose manifests its content is made from once they are kept: `url` and `hash` are
   * not used.
   */
  readonly madeFrom?: readonly string[];
  readonly hash: Hash;
  /** Hashes by other functions, where lock files name more than one: the bytes have to match all of them. */
  readonly alsoHashes?: readonly Hash[];
  /** The lock file does not name its repository: where the registry has no such file, it is left out of the cache. */
  readonly mayBeAbsent?: true;
  /** Where the ecosystem's tool expects it: relative, '/' between components. */
  readonly path: string;
}

/** An entry of a lock file that is not cached: tools fetch it as they do without a cache. */
export interface Skipped {
  readonly name: string;
  /** Completes '3 packages are not in the cache: '. */
  readonly why: string;
}

export interface LockContent {
  readonly archives: readonly Archive[];
  readonly skipped: readonly Skipped[];
}

/** A package manager and its registry: one row. */
export interface Ecosystem {
  readonly name: CacheName;
  /** The files, at the top of the project, that name its packages. */
  readonly lockFiles: readonly string[];
  /** Where archives come from; entries of other hosts are skipped. */
  readonly hosts: readonly string[];
  /** Completes '3 packages are not in the cache: ', for archives that may be absent. */
  readonly whyAbsent?: string;
  /**
   * Reads a lock file. Pure. What it returns is checked by checkArchives.
   *
   * @throws {Error} with the reason when nothing in the file can be cached
   */
  readonly read: (text: string, file: string) => LockContent;
  /** Where the agent's home gets links to the archive of this path. */
  readonly linksOf: (path: string) => readonly string[];
  /** Files that the agent's home gets: settings that point the tool to `dir`, the cache in the container. */
  readonly homeFiles?: (dir: string) => Readonly<Record<string, string>>;
  /** Variables that point the tool to `dir`, the cache in the container. */
  readonly env: (dir: string) => Readonly<Record<string, string>>;
}

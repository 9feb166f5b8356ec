import type { CacheName } from '../types/cache.ts';

/** Hash functions that nobody finds two archives for. */
export type HashName = 'sha256' | 'sha384' | 'sha512';

/** An archive that a lock file names, as it is fetched and kept. */
export interface Archive {
  /** For messages: 'left-pad 1.3.0'. */
  readonly name: string;
  readonly url: string;
  /** Of its bytes. */
  readonly hash: { readonly name: HashName; readonly hex: string };
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
  /**
   * Reads a lock file. Pure. What it returns is checked by checkArchives.
   *
   * @throws {Error} with the reason when nothing in the file can be cached
   */
  readonly read: (text: string, file: string) => LockContent;
  /** Directory in the agent's home that gets a link to each archive, at the archive's path; undefined for none. */
  readonly linksIn: string | undefined;
  /** Variables that point the tool to `dir`, the cache in the container. */
  readonly env: (dir: string) => Readonly<Record<string, string>>;
}

/** Every ecosystem that has a cache of packages. src/environment/caches/ecosystems has a file for each. */
export const CACHE_NAMES = ['npm', 'pnpm', 'yarn', 'pip', 'cargo', 'go', 'maven', 'gradle'] as const;

export type CacheName = (typeof CACHE_NAMES)[number];

/** A filled cache, in the record of a session that uses it. */
export interface MadeCache {
  readonly ecosystem: CacheName;
  /** 32 hex digits that name the inputs: lock files, ecosystem, image and user. */
  readonly address: string;
  /** Its directory on this machine, absolute. */
  readonly dir: string;
}

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { parseUser } from '../../core/host/user.ts';
import type { EngineFacts, Mount } from '../../core/types/engine.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { CacheName, MadeCache } from '../../core/types/setup/cache.ts';
import { type PlaceOptions, placeMount } from '../../engines/engine/place.ts';

/** A project chooses the content: nobody may find two inputs with the same address. */
const ADDRESS_DIGITS = 32;
/** Changes when the same lock file makes other content. */
const FORMAT = 2;

/** What a cache is made from. */
export interface CacheInputs {
  readonly ecosystem: CacheName;
  /** The lock files as they are on this machine. */
  readonly locks: readonly { readonly file: string; readonly content: Uint8Array }[];
  /** The address of the image, in which it is filled and used. */
  readonly image: string;
  /** 'uid:gid' of what is in it. */
  readonly user: string;
  /** Of all caches of this user on this machine, from cachesOwner(). */
  readonly owner: string;
}

/** 32 hex digits that name the inputs. */
export function cacheAddress({ ecosystem, locks, image, user, owner }: CacheInputs): string {
  const digestOf = (content: Uint8Array | string): string => createHash('sha256').update(content).digest('hex');
  const files = locks.map(({ file, content }) => [file, digestOf(content)]);
  return digestOf(JSON.stringify([FORMAT, ecosystem, image, user, owner, files])).slice(0, ADDRESS_DIGITS);
}

export function isCacheAddress(name: string): boolean {
  return name.length === ADDRESS_DIGITS && /^[0-9a-f]+$/.test(name);
}

/** The directory of all caches on this machine. */
export function cachesDir(cacheDir: string): string {
  return join(cacheDir, 'caches');
}

/** The label of a cache's volume. */
export function cacheLabel(address: string): string {
  return `cache-${address}`;
}

/** The engine's volume of a cache, where it is not a directory of this machine. */
export function cacheVolume(address: string): string {
  return `run-claude-cache-${address}`;
}

/** Where a session has a cache. */
export function insideDir(ecosystem: CacheName): string {
  return `/var/cache/run-claude/${ecosystem}`;
}

type Session = Pick<Plan, 'user' | 'image' | 'sessionId'>;

/** Where the archives of a cache are: a directory of this machine, or a volume of the engine. */
export function archivesPlace({ address, dir }: MadeCache, { user, image, sessionId }: Session): PlaceOptions {
  const { uid, gid } = parseUser(user);
  return {
    name: cacheVolume(address),
    dir: join(dir, 'archives'),
    owner: { uid, gid },
    image,
    sessionId,
    label: cacheLabel(address),
  };
}

/** The mount of a cache in a session: always read-only. */
export function cacheMount(facts: EngineFacts, cache: MadeCache, session: Session): Mount {
  return placeMount(facts, archivesPlace(cache, session), insideDir(cache.ecosystem), true);
}

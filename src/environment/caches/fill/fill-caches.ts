import { mkdirSync } from 'node:fs';
import { RunClaudeError } from '../../../core/errors.ts';
import { removeTree } from '../../../core/host/files/remove-tree.ts';
import { announceWait } from '../../../core/progress/announce-wait.ts';
import { withLock } from '../../../core/store/lock.ts';
import { writeJsonAtomic } from '../../../core/store/record.ts';
import type { Selection } from '../../../core/text/selection.ts';
import type { Mount } from '../../../core/types/engine.ts';
import type { Tell } from '../../../core/types/event.ts';
import type { Plan } from '../../../core/types/plan.ts';
import type { Runtime } from '../../../core/types/runtime.ts';
import type { CacheName, MadeCache } from '../../../core/types/setup/cache.ts';
import { openPlace } from '../../../engines/engine/place.ts';
import type { Archive, Ecosystem, LockContent, Skipped } from '../ecosystem.ts';
import { ecosystemOf } from '../ecosystems.ts';
import { lockText } from '../lock-text.ts';
import { type CacheMarker, knownCaches, lockOf, markerOf } from '../marker.ts';
import { cachesOwner, knownCachesOwner } from '../owner.ts';
import { archivesPlace, cacheAddress, cacheMount, cachesDir } from '../place.ts';
import { type LockFile, readLocks } from '../read-locks.ts';
import { exists, isUsable } from '../usable.ts';
import { checkArchives, skippedLines } from './check-archives.ts';
import { withoutInterruptedFill } from './interrupted-fill.ts';
import { type Filled, runFill } from './run-fill.ts';

export interface FillOptions {
  readonly engine: Runtime;
  readonly cacheDir: string;
  readonly tell: Tell;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/** A cache, filled or not, with the lock files that name its content. */
export interface AddressedCache {
  readonly cache: MadeCache;
  readonly locks: readonly LockFile[];
}

/** As long as another session may fill the same cache. */
const WAIT_MS = 60 * 60_000;

export interface AddressOptions {
  /** What the session takes from the project: lock files that it leaves out are not read. */
  readonly selection: Selection;
  readonly cacheDir: string;
  /** No cache is used: nothing is written, and before the first session with a cache no address is known. */
  readonly isShownOnly: boolean;
  readonly tell: Tell;
}

/**
 * The caches that the user's settings name and the project has lock files for, whether they are filled or not. One whose
 * lock files cannot be used is reported and left out.
 */
export function addressCaches(
  { policy, project, image, user }: Pick<Plan, 'policy' | 'project' | 'image' | 'user'>,
  { selection, cacheDir, isShownOnly, tell }: AddressOptions,
): readonly AddressedCache[] {
  return [...new Set(policy.caches ?? [])].flatMap((name) => {
    try {
      const ecosystem = ecosystemOf(name);
      const locks = readLocks({ project }, ecosystem, selection);
      if (locks.length === 0) {
        const text = `The project has no lock file for the ${name} cache: ${ecosystem.lockFiles.join(', ')}`;
        tell({ kind: 'message', level: 'info', text });
        return [];
      }
      const owner = isShownOnly ? knownCachesOwner(cacheDir) : cachesOwner(cacheDir);
      if (owner === undefined) return [];
      const address = cacheAddress({ ecosystem: name, locks, image, user, owner });
      return [{ cache: { ecosystem: name, address, dir: `${cachesDir(cacheDir)}/${address}` }, locks }];
    } catch (error) {
      tellNotFilled(name, error, tell);
      return [];
    }
  });
}

/**
 * Fills those of the caches that no session filled yet. One that cannot be filled is reported: the session starts without
 * it. Of several processes that need one, one fills it.
 *
 * @throws the signal's reason
 */
export async function fillCaches(
  plan: Plan,
  addressed: readonly AddressedCache[],
  options: FillOptions,
): Promise<void> {
  for (const one of addressed) {
    try {
      await fillOne(one, plan, options);
    } catch (error) {
      options.signal.throwIfAborted();
      tellNotFilled(one.cache.ecosystem, error, options.tell);
    }
  }
}

function tellNotFilled(name: CacheName, error: unknown, tell: Tell): void {
  const why = whyNotFilled(error, name);
  if (why === undefined) throw error;
  const text = `${why}. Nothing of it is kept, and the session starts without this cache.`;
  tell({ kind: 'message', level: 'warning', text });
}

/** A cache directory that is full or cannot be written is one without this cache. Any other error is a bug. */
function whyNotFilled(error: unknown, name: CacheName): string | undefined {
  if (error instanceof RunClaudeError) return error.message;
  const { syscall, message } = error as NodeJS.ErrnoException;
  return syscall === undefined ? undefined : notFilled(name, message).message;
}

async function fillOne({ cache, locks }: AddressedCache, plan: Plan, options: FillOptions): Promise<void> {
  const { ecosystem: name } = cache;
  if (await isUsable(options.engine, cache, plan)) return;
  if (plan.policy.network === 'none') throw notFilled(name, 'the session has no network');
  const content = readContent(ecosystemOf(name), locks);
  if (content.archives.length === 0)
    throw notFilled(name, skippedLines(content.skipped)[0] ?? 'its lock file names no package of a registry');
  mkdirSync(cachesDir(options.cacheDir), { recursive: true, mode: 0o700 });
  const what = `filling the ${name} cache for ${plan.project.root}`;
  const lock = { what, waitMs: WAIT_MS, waiting: announceWait(options.tell), signal: options.signal };
  await withLock(lockOf(cache.dir), lock, async () => {
    if (!(await isUsable(options.engine, cache, plan))) await fill(cache, { plan, locks, content }, options);
  });
}

const notFilled = (name: CacheName, why: string): RunClaudeError =>
  new RunClaudeError('CACHE_FAILED', `the ${name} cache was not filled: ${why}`);

function readContent(ecosystem: Ecosystem, locks: readonly LockFile[]): LockContent {
  const contents = locks.map(({ file, content }) => {
    try {
      return ecosystem.read(lockText(content), file);
    } catch (error) {
      throw notFilled(ecosystem.name, `${file}: ${(error as Error).message}`);
    }
  });
  try {
    return checkArchives(ecosystem, contents);
  } catch (error) {
    throw notFilled(ecosystem.name, `${locks.map(({ file }) => file).join(', ')}: ${(error as Error).message}`);
  }
}

interface Inputs {
  readonly plan: Plan;
  readonly locks: readonly LockFile[];
  readonly content: LockContent;
}

async function fill(cache: MadeCache, { plan, locks, content }: Inputs, options: FillOptions): Promise<void> {
  const { engine, tell } = options;
  const { archives, skipped } = content;
  const lockFiles = locks.map(({ file }) => file);
  const packages = packagesIn(archives);
  const what = `${packages} ${packages === 1 ? 'package' : 'packages'} of ${lockFiles.join(', ')}`;
  tell({ kind: 'message', level: 'info', text: `Filling the ${cache.ecosystem} cache, once: ${what}` });
  for (const text of skippedLines(skipped)) tell({ kind: 'message', level: 'info', text });
  mkdirSync(cache.dir, { recursive: true, mode: 0o700 });
  const { bytes, absent } = await withoutInterruptedFill(engine, cache.dir, plan.sessionId, () =>
    fillAnew(cache, { plan, content }, options),
  );
  const kept = archives.filter(({ path }) => !absent.has(path));
  const marker: CacheMarker = {
    version: 1,
    ecosystem: cache.ecosystem,
    project: plan.project.root,
    lockFiles,
    image: plan.image,
    packages: packagesIn(kept),
    bytes,
    filled: new Date().toISOString(),
    paths: kept.map(({ path }) => path),
  };
  writeJsonAtomic(markerOf(cache.dir), marker);
  for (const text of skippedLines(absentOf(cache.ecosystem, archives, absent)))
    tell({ kind: 'message', level: 'info', text });
}

async function fillAnew(
  cache: MadeCache,
  { plan, content: { archives } }: Pick<Inputs, 'plan' | 'content'>,
  options: FillOptions,
): Promise<Filled> {
  const { engine } = options;
  const { ecosystem: name, dir } = cache;
  // What a killed command left may be half a cache.
  await (await openPlace(engine, archivesPlace(cache, plan))).remove();
  const place = await openPlace(engine, archivesPlace(cache, plan));
  try {
    const previous = await previousMount(cache, plan, options);
    const filled = await runFill({ ...options, plan, ecosystem: { name }, archives, place, previous, dir });
    if (archives.every(({ path }) => filled.absent.has(path)))
      throw notFilled(name, 'the registry has none of its files');
    return filled;
  } catch (error) {
    await place.remove();
    await removeTree(dir);
    throw error;
  }
}

const absentOf = (name: CacheName, archives: readonly Archive[], absent: ReadonlySet<string>): Skipped[] =>
  archives
    .filter(({ path }) => absent.has(path))
    .map((archive) => ({ name: archive.name, why: ecosystemOf(name).whyAbsent ?? 'not in the registry' }));

/** How many packages archives are of: some have several files, and run-claude makes some files. */
function packagesIn(archives: readonly Archive[]): number {
  const fetched = archives.filter(({ text, madeFrom }) => text === undefined && madeFrom === undefined);
  return new Set(fetched.map(({ name }) => name)).size;
}

/** The cache of the project's earlier lock file: most of its archives are the same, and each is checked again. */
async function previousMount(
  cache: MadeCache,
  plan: Plan,
  { engine, cacheDir }: FillOptions,
): Promise<((target: string) => Mount) | undefined> {
  for (const { address, dir, marker } of knownCaches(cacheDir)) {
    if (marker?.ecosystem !== cache.ecosystem || marker.project !== plan.project.root) continue;
    const mount = cacheMount(engine.facts, { ecosystem: cache.ecosystem, address, dir }, plan);
    if (await exists(engine, mount)) return (target) => ({ ...mount, target });
  }
  return undefined;
}

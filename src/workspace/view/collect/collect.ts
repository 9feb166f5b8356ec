import { turnsOf } from '../../../core/host/processes/turns.ts';
import { openProgress } from '../../../core/progress/open-progress.ts';
import { MAX_IN_MEMORY_BYTES } from '../../../core/text/in-memory.ts';
import { LACKED } from '../../../core/text/lacked.ts';
import type { RelPath } from '../../../core/text/path.ts';
import type { WithheldFile } from '../../../core/types/change/rename.ts';
import type { ListedEntry } from '../../../core/types/collector.ts';
import type { Change, Collected, Entry, LeftMember } from '../../../core/types/entry.ts';
import type { CollectChangesOptions } from './collect-options.ts';
import { compareLayerToBase } from './compare-layer-to-base.ts';
import { type HiddenFiles, inGit, setIgnoredAside, untouched, type Wanted, withNewFolders } from './ignored-aside.ts';
import { setMaskedAside } from './masked-aside.ts';
import { renameReader } from './rename-reader.ts';

/** Free space that large frozen content must leave on the disk of the session's record. */
const RESERVE_BYTES = 256 << 20;
/** Fewer files are read too fast for a progress bar. */
const PROGRESS_FROM_FILES = 500;
const AT_ONCE = 16;

/**
 * Compares the entries that the session changed with the base, and freezes the content of both sides in the store. An
 * entry that cannot be read or classified becomes a change with a problem; it is never omitted. Throws the signal's reason.
 */
export async function collectChanges(options: CollectChangesOptions): Promise<Collected> {
  try {
    return await freezeChanges(options);
  } finally {
    options.frozen.save();
  }
}

async function freezeChanges(options: CollectChangesOptions): Promise<Collected> {
  const { collector, match, members, store } = options;
  const compared = await compareLayerToBase(collector, options.delta);
  const { pairs, maskedEdits } = await setMaskedAside(compared, options);
  const { wanted, withheld, hidden, isMoved } = await setIgnoredAside(pairs, options);
  const freezing: Freezing = { ...options, sparse: { left: options.sparseBytes } };
  const found = await freezeAll(wanted, freezing);
  const hiddenFiles = filesOf(hidden);
  const matched = await match?.(found, isMoved ? hiddenFiles : [], renameReader(options));
  const outside = found.flatMap(({ path, inGit: isGit }) => (isGit ? [] : [path as string]));
  const left = await partnersInBase([...hidden.keys()], freezing);
  const needed = members?.neededOf([...outside, ...left], hiddenFiles) ?? [];
  // A withheld file that has the content of a deleted one is its own change: one is not applied without the other.
  const named = [...(matched?.renames ?? []).map(({ to }) => to), ...needed];
  const moved = named.flatMap((path) => withNewFolders(path, hidden));
  const changes = [...found, ...(await freezeAll([...new Set(moved)], freezing))].sort(byPath);
  const leftMembers = await leftOf(changes, freezing);
  await store.flush();
  const problems = changes.flatMap(({ path, problem }) => (problem === undefined ? [] : [{ path, why: problem }]));
  return {
    changes,
    problems,
    withheld,
    baseEntries: options.baseEntries,
    ...(matched === undefined ? {} : { renames: matched.renames, uncompared: matched.uncompared }),
    ...(leftMembers.length === 0 ? {} : { leftMembers }),
    ...(maskedEdits.length === 0 ? {} : { maskedEdits }),
  };
}

/** How many names next to withheld files are looked for in the base. */
const MAX_PARTNERS = 200;

/**
 * Files of the project that are one thing with a withheld file and that the session left as they were: a database of which
 * only the ignored log changed.
 */
async function partnersInBase(withheld: readonly string[], { members, collector }: Freezing): Promise<string[]> {
  const found: string[] = [];
  for (const path of members?.possibleMembers(withheld).slice(0, MAX_PARTNERS) ?? [])
    if ((await collector.stat('base', path as RelPath)) !== undefined) found.push(path);
  return found;
}

/** Of things in several files, those that the session left as they were: an apply compares the host's with them. */
async function leftOf(changes: readonly Change[], freezing: Freezing): Promise<LeftMember[]> {
  const outside = changes.flatMap(({ path, inGit: isGit }) => (isGit ? [] : [path as string]));
  const left: LeftMember[] = [];
  for (const path of freezing.members?.possibleMembers(outside) ?? []) {
    const entry = await frozen('base', await freezing.collector.stat('base', path as RelPath), freezing, []);
    left.push({ path: path as RelPath, ...(entry && { entry }) });
  }
  return left;
}

function filesOf(hidden: HiddenFiles): WithheldFile[] {
  return [...hidden.values()].flatMap(({ path, after }) =>
    after === undefined || after.problem !== undefined
      ? []
      : [{ path, kind: after.kind, size: after.size, ...(after.target === undefined ? {} : { target: after.target }) }],
  );
}

function byPath(a: { readonly path: string }, b: { readonly path: string }): number {
  return a.path < b.path ? -1 : 1;
}

async function freezeAll(wanted: readonly Wanted[], freezing: Freezing): Promise<Change[]> {
  using progress =
    wanted.length < PROGRESS_FROM_FILES ? undefined : openProgress(freezing.tell, 'Reading what changed');
  const changes: Array<Change | undefined> = new Array(wanted.length);
  let next = 0;
  const turn = turnsOf(freezing.signal);
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let at = next++; at < wanted.length; at = next++) {
        await turn();
        changes[at] = await toChange(wanted[at] as Wanted, freezing);
        progress?.count({ done: at + 1, total: wanted.length, unit: 'files' });
      }
    }),
  );
  return changes.filter((change) => change !== undefined);
}

interface Freezing extends CollectChangesOptions {
  readonly sparse: { left: number };
}

/** Loose objects and packs are not frozen: they are many, named by their content, and never applied. */
function isGitObject(path: string): boolean {
  return /(^|\/)objects\/([0-9a-f]{2}\/|pack\/)/.test(path) && inGit(path);
}

/** The frozen change. Undefined if both sides are equal. */
async function toChange(pair: Wanted, options: Freezing): Promise<Change | undefined> {
  const { path, before, after, ignored, unignored } = pair;
  if (untouched(pair)) return undefined;
  const problems: string[] = [];
  if (before?.problem !== undefined) problems.push(before.problem);
  if (after?.problem !== undefined) problems.push(after.problem);
  const isDirectory = (after ?? before)?.kind === 'dir';
  if (!inGit(path) && options.lacking.lackOf(path, isDirectory) !== undefined) problems.push(LACKED);
  const freeze = (root: string, entry: ListedEntry | undefined) => frozen(root, entry, options, problems);
  const [frozenBefore, frozenAfter] = [await freeze('base', before), await freeze('upper', after)];
  const kind = changeKind(frozenBefore, frozenAfter);
  if (kind === undefined && problems.length === 0) return undefined;
  return {
    path,
    kind: kind ?? 'modified',
    ...(frozenBefore === undefined ? {} : { before: frozenBefore }),
    ...(frozenAfter === undefined ? {} : { after: frozenAfter }),
    ...(problems.length === 0 ? {} : { problem: problems.join('; ') }),
    ...(ignored ? { ignored } : {}),
    ...(unignored === undefined ? {} : { unignored }),
    ...(inGit(path) ? { inGit: true } : {}),
  };
}

/** Content that is not frozen, with the reason. */
class TooLarge extends Error {}

/** The entry as recorded in the manifest. Puts the content of a file into the store. */
async function frozen(
  root: string,
  entry: ListedEntry | undefined,
  options: Freezing,
  problems: string[],
): Promise<Entry | undefined> {
  if (entry === undefined) return undefined;
  const { kind, mode, size, mtimeNs, target, linkGroup, allocated } = entry;
  const record: Entry = {
    kind,
    mode,
    size,
    mtimeNs,
    ...(target === undefined ? {} : { target }),
    // Generations of the base share inodes with each other, so a link group of the base says nothing about the project.
    ...(linkGroup === undefined || root === 'base' ? {} : { linkGroup }),
    ...(allocated === undefined ? {} : { allocated }),
  };
  if (kind !== 'file' || entry.problem !== undefined || isGitObject(entry.path)) return record;
  const { collector, store } = options;
  try {
    const { digest, size: stored } = await options.frozen.content(root, entry, async () => {
      const tooLarge = await whyTooLarge(entry, options);
      if (tooLarge !== undefined) throw new TooLarge(tooLarge);
      return store.put(collector.readUpTo(root, entry.path as RelPath, Math.max(size, MAX_IN_MEMORY_BYTES)));
    });
    if (stored !== size) problems.push('it changed while it was read');
    return { ...record, size: stored, digest };
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    if (code !== 'COLLECTOR_READ' && !(error instanceof TooLarge)) throw error;
    problems.push(message);
    return record;
  }
}

/**
 * Why content is too large to be frozen; it stays in the session's layer. Holes use no space in the store, but take time
 * to read. Undefined if it is not too large.
 */
async function whyTooLarge({ size, allocated }: ListedEntry, options: Freezing): Promise<string | undefined> {
  if (allocated !== undefined) {
    if (size > options.sparse.left)
      return `sparse: ${size} bytes, of which ${allocated} are on the disk; sparse files are read up to ${options.sparseBytes} bytes in total (see --disk)`;
    options.sparse.left -= size;
  }
  if (size <= MAX_IN_MEMORY_BYTES) return undefined;
  const [needed, free] = [allocated ?? size, await options.room()];
  return needed + RESERVE_BYTES <= free ? undefined : `no space for a copy of it (${needed} bytes, ${free} are free)`;
}

function changeKind(before: Entry | undefined, after: Entry | undefined): Change['kind'] | undefined {
  if (before === undefined) return after === undefined ? undefined : 'created';
  if (after === undefined) return 'deleted';
  if (before.kind !== after.kind) return 'type';
  if (before.kind === 'symlink') return before.target === after.target ? undefined : 'modified';
  if (before.digest !== after.digest || before.size !== after.size) return 'modified';
  // Without digests (git objects, unreadable files), compare the times.
  if (before.kind === 'file' && before.digest === undefined && before.mtimeNs !== after.mtimeNs) return 'modified';
  return before.mode === after.mode ? undefined : 'mode';
}

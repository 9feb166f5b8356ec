import { nameOfPath, type RelPath } from '../../../core/text/path.ts';
import type { WithheldFile } from '../../../core/types/change/rename.ts';
import type { Change, Entry, Rename } from '../../../core/types/entry.ts';

/** A deleted file or link, or a file that a link or a folder replaced. */
export interface RenameSource {
  readonly path: RelPath;
  readonly entry: Entry;
  /** A link or a folder has its path now: the content counts as moved only to a withheld name. */
  readonly isReplaced: boolean;
}

/** What may have the content of a deleted one. */
export interface RenameTarget {
  readonly path: RelPath;
  readonly size: number;
  /** Undefined for a withheld file: its digest is asked for. */
  readonly entry?: Entry;
  readonly withheld?: WithheldFile;
  /** It can be applied, so it is preferred to one that cannot. */
  readonly isVisible: boolean;
  /** An ignore rule matches it or it is in a `.git`, also if the session un-ignores it. */
  readonly isWithheld: boolean;
  /** Something else had this name before: only the very same content counts. */
  readonly isReplaced: boolean;
}

/** A withheld file of another name with less of the same content says nothing: so do many. */
const OTHER_NAME_BYTES_MIN = 32;

/** Renames of the same content alone, where no contents are at hand. */
export function identicalRenames(changes: readonly Change[]): readonly Rename[] {
  const targets = changes.flatMap(renameTargetOf);
  const sources = renameSourcesOf(changes, targets);
  const renames: Rename[] = [];
  const take = (from: RelPath, to: RenameTarget): void => {
    renames.push({ from, to: to.path, similarity: 100 });
  };
  if (sources.size > 0) matchIdentical(targets, sources, take, new Map());
  return renames;
}

/**
 * By path, the deletions and replaced files whose content is looked for elsewhere. A replaced file is left out if a
 * target that is not withheld has its content: that content is not lost.
 */
export function renameSourcesOf(
  changes: readonly Change[],
  targets: readonly RenameTarget[],
): Map<string, RenameSource> {
  const sources = changes.flatMap(renameSourceOf);
  const kept = new Set<string | undefined>();
  if (sources.some(({ isReplaced }) => isReplaced)) {
    for (const { entry, isWithheld } of targets) if (!isWithheld && entry !== undefined) kept.add(contentKey(entry));
  }
  const lost = sources.filter(({ entry, isReplaced }) => !isReplaced || !kept.has(contentKey(entry)));
  return new Map(lost.map((source) => [source.path, source]));
}

function renameSourceOf({ path, kind, before, inGit, ignored, unignored, problem }: Change): RenameSource[] {
  const staysOut = ignored === true && unignored === undefined;
  if (before === undefined || inGit || staysOut || problem !== undefined) return [];
  const isReplaced = kind === 'type' && before.kind === 'file';
  if ((kind !== 'deleted' && !isReplaced) || contentKey(before) === undefined) return [];
  return [{ path, entry: before, isReplaced }];
}

/** The change as a place where the content of a deleted one may be. */
export function renameTargetOf({ path, kind, after, inGit, ignored, unignored }: Change): RenameTarget[] {
  if (after === undefined || kind === 'mode' || contentKey(after) === undefined) return [];
  const isVisible = inGit !== true && (ignored !== true || unignored !== undefined);
  const isWithheld = inGit === true || ignored === true;
  return [{ path, size: after.size, entry: after, isVisible, isWithheld, isReplaced: kind !== 'created' }];
}

/** What equal contents have alike; undefined for what has none (folders, empty files). */
export function contentKey(entry: Pick<Entry, 'kind' | 'size' | 'digest' | 'target'>): string | undefined {
  if (entry.kind === 'symlink') return `-> ${entry.target ?? ''}`;
  return entry.kind === 'file' && entry.size > 0 ? entry.digest : undefined;
}

/** Takes each pair of equal contents; gives the targets that were taken. `digests` are those of withheld files. */
export function matchIdentical(
  targets: readonly RenameTarget[],
  sources: ReadonlyMap<string, RenameSource>,
  take: (from: RelPath, to: RenameTarget, similarity: number) => void,
  digests: ReadonlyMap<RenameTarget, string>,
): ReadonlySet<RenameTarget> {
  const byKey = new Map<string, RenameSource[]>();
  for (const source of sources.values()) {
    const key = contentKey(source.entry) as string;
    const same = byKey.get(key);
    if (same === undefined) byKey.set(key, [source]);
    else same.push(source);
  }
  const taken = new Set<RenameTarget>();
  const order = (target: RenameTarget): number => (target.isVisible ? 0 : 2) + (target.isReplaced ? 1 : 0);
  const ordered = [...targets].sort((a, b) => order(a) - order(b));
  // The same name is looked for among all of a kind first, so that no other one takes it away.
  for (const isVisible of [true, false]) {
    for (const sameName of [true, false]) {
      for (const target of ordered) {
        if (target.isVisible !== isVisible || taken.has(target) || (!sameName && isWeak(target))) continue;
        const key = target.entry === undefined ? digests.get(target) : contentKey(target.entry);
        const candidates = key === undefined ? [] : (byKey.get(key) ?? []);
        const at = sameName ? candidates.findIndex(({ path }) => nameOfPath(path) === nameOfPath(target.path)) : 0;
        const [source] = at < 0 ? [] : candidates.splice(at, 1);
        if (source === undefined) continue;
        taken.add(target);
        take(source.path, target, 100);
      }
    }
  }
  return taken;
}

/** A withheld file so short that the same content under another name says nothing. */
export function isWeak({ withheld, size }: RenameTarget): boolean {
  return withheld?.kind === 'file' && size < OTHER_NAME_BYTES_MIN;
}

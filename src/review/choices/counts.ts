import type { FileCounts, ReviewItem } from '../../core/types/review.ts';

/**
 * Files and links by what became of them, outside `.git` and what is withheld; folders count only where they became or
 * were something else. A rename counts once, as renamed, not as a creation and a deletion.
 */
export function countFiles(items: readonly ReviewItem[]): FileCounts {
  const counts: Record<keyof FileCounts, number> = {
    created: 0,
    modified: 0,
    deleted: 0,
    mode: 0,
    type: 0,
    renamed: 0,
  };
  for (const item of items) if (isCounted(item)) counts[kindOf(item)] += 1;
  return counts;
}

/** How many files {@link countFiles} counts. */
export function totalFiles(counts: FileCounts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** The counts with each rename as a creation and a deletion, for readers that do not know renames. */
export function countsWithoutRenames({ renamed, ...counts }: FileCounts): Omit<FileCounts, 'renamed'> {
  return { ...counts, created: counts.created + renamed, deleted: counts.deleted + renamed };
}

/** Whether an item is its own file in every count: no folder, no old name of a rename, nothing of `.git`. */
export function isCounted({ change, state, renamedTo }: ReviewItem): boolean {
  if (change.inGit || state === 'withheld' || renamedTo !== undefined) return false;
  const entry = change.after ?? change.before;
  return entry?.kind !== 'dir' || change.kind === 'type';
}

function kindOf({ change, renamedFrom }: ReviewItem): keyof FileCounts {
  return renamedFrom === undefined ? change.kind : 'renamed';
}

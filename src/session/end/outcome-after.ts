import type { Change } from '../../core/types/entry.ts';
import type { ApplyOutcome, ChangeOutcome, CollectedRecord } from '../../core/types/session.ts';
import { CHANGED_SINCE, isApplied } from '../../review/choices/file-progress.ts';

// What still holds of the outcome of earlier applies. Pure.

/** The outcome of earlier applies after the session ran again: what the session changed since then is not applied. */
export function outcomeAfterResume(
  outcome: ApplyOutcome | undefined,
  before: CollectedRecord,
  now: CollectedRecord,
): ApplyOutcome | undefined {
  if (outcome === undefined) return undefined;
  const [old, fresh] = [byPath(before), byPath(now)];
  return {
    ...outcome,
    changes: outcome.changes.map((one): ChangeOutcome => {
      const [a, b] = [old.get(one.path), fresh.get(one.path)];
      if (!isApplied(one) || b === undefined || isSameEnd(a, b)) return one;
      return { path: one.path, verdict: 'skipped', why: CHANGED_SINCE };
    }),
  };
}

function byPath({ changes }: CollectedRecord): ReadonlyMap<string, Change> {
  return new Map(changes.map((change) => [change.path, change]));
}

function isSameEnd(a: Change | undefined, b: Change): boolean {
  const end = (change: Change | undefined) => {
    const { kind, mode, digest, target } = change?.after ?? {};
    return [kind, mode, digest, target].join('\0');
  };
  return a !== undefined && end(a) === end(b);
}

/** The outcome of earlier applies after an undo: what was undone is not applied any more. */
export function outcomeAfterUndo(outcome: ApplyOutcome | undefined, undone: ApplyOutcome): ApplyOutcome | undefined {
  if (outcome === undefined) return undefined;
  const back = new Set(undone.changes.filter(isApplied).map(({ path }) => path));
  return {
    ...outcome,
    changes: outcome.changes.map((one) =>
      back.has(one.path) ? { path: one.path, verdict: 'skipped' as const, why: 'undone' } : one,
    ),
  };
}

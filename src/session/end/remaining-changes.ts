import { openContentStore } from '../../core/store/content.ts';
import type { RelPath } from '../../core/text/path.ts';
import type { Change } from '../../core/types/entry.ts';
import type { Review } from '../../core/types/review.ts';
import type { ApplyOutcome, ChangeOutcome, CollectedRecord, SessionRecord } from '../../core/types/session.ts';
import { applyChanges } from '../../review/apply/apply-changes.ts';
import { CHANGED_SINCE, IN_PART, isApplied, isOnBranch } from '../../review/choices/file-progress.ts';
import { readCollected, storeDir } from '../record/session.ts';
import type { UserDeps } from '../stage/deps.ts';
import { reviewOf } from './frozen-review.ts';

/** The reason that the outcome of a later apply gives for a path that an earlier one applied. */
const APPLIED_BEFORE = 'applied before';

/**
 * Paths of a session that earlier applies brought to the project and that it still has, with or without later edits by
 * the user. What the user removed can be applied again. A change on a branch counts only where the project has exactly
 * that, as after a merge of the branch. Reads the project, writes nothing.
 *
 * @throws {RunClaudeError} LOCK_HELD, and what the store throws.
 */
async function appliedPaths(
  record: SessionRecord,
  { changes }: CollectedRecord,
  deps: UserDeps,
): Promise<ReadonlySet<string>> {
  const before = (record.outcome?.changes ?? []).filter(isWholeApplied);
  const applied = new Set(before.map(({ path }) => path));
  const inFiles = new Set(before.filter((one) => !isOnBranch(one)).map(({ path }) => path));
  const chosen = changes.filter(({ path }) => applied.has(path)).map((change) => ({ change }));
  if (chosen.length === 0) return new Set();
  const { plan } = record;
  const outcome = await applyChanges({
    project: plan.project.root,
    ...(plan.project.inode !== undefined && { projectIdentity: `:${plan.project.inode}` }),
    sessionDir: plan.sessionDir,
    choice: { decided: true, discard: false, chosen, left: [], folders: [] },
    store: openContentStore(storeDir(plan.sessionDir)),
    sessionUmask: plan.umask,
    conflict: 'keep',
    dryRun: true,
    tell: deps.tell,
    signal: deps.interruption.signal,
    audit: () => [],
    acceptMerge: async () => false,
  });
  // A conflict is an edit by the user after the apply.
  const present = outcome.changes.filter(
    ({ path, verdict }) => verdict === 'same' || (verdict === 'conflict' && inFiles.has(path)),
  );
  return new Set(present.map(({ path }) => path));
}

/** A session's changes, compared with the project as it is now. */
export interface RemainingReview {
  /** All that the session changed. */
  readonly whole: Review;
  /** What of it the project does not have. */
  readonly review: Review;
  /** Outcomes for the paths that earlier applies brought and the project still has. */
  readonly appliedBefore: readonly ChangeOutcome[];
}

/**
 * What can still be applied of a session that may have been applied in part, before it was resumed or by an earlier
 * command. `record` has the policy that decides what is suspect; `release` is as in {@link reviewOf}.
 *
 * @throws {RunClaudeError} LOCK_HELD, and what the store throws.
 */
export async function reviewRemaining(
  record: SessionRecord,
  deps: UserDeps,
  release?: boolean | readonly string[],
): Promise<RemainingReview> {
  const collected = readCollected(record.plan.sessionDir);
  const applied = await appliedPaths(record, collected, deps);
  const whole = reviewOf(record, collected, release);
  // At the end of most sessions nothing was applied yet.
  const isWhole = applied.size === 0 && record.outcome === undefined;
  return {
    whole,
    review: isWhole ? whole : reviewOf(record, withoutApplied(collected, applied, record.outcome), release),
    appliedBefore: [...applied].map((path) => ({ path: path as RelPath, verdict: 'same', why: APPLIED_BEFORE })),
  };
}

function isWholeApplied(outcome: ChangeOutcome): boolean {
  return isApplied(outcome) && outcome.why !== IN_PART;
}

/** The collected changes without those that are applied: workspace `paths`, and Claude's data that came back. */
export function withoutApplied(
  collected: CollectedRecord,
  paths: ReadonlySet<string>,
  outcome: ApplyOutcome | undefined,
): CollectedRecord {
  const { claude } = collected;
  const back = new Set((outcome?.claude ?? []).filter(isApplied).map(({ path }) => path));
  return {
    ...collected,
    changes: collected.changes.filter(({ path }) => !paths.has(path)),
    findings: collected.findings.filter(({ path }) => !paths.has(path)),
    ...(claude && {
      claude: {
        ...claude,
        changes: claude.changes.filter(({ path }) => !back.has(path)),
        findings: claude.findings.filter(({ path }) => !back.has(path.replace(/^~\/\.claude\//, ''))),
      },
    }),
  };
}

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

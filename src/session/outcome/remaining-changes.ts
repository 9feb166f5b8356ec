import type { RelPath } from '../../core/text/path.ts';
import type { Review } from '../../core/types/review.ts';
import type { ApplyOutcome, ChangeOutcome, CollectedRecord, SessionRecord } from '../../core/types/session.ts';
import { IN_PART, isApplied } from '../../review/choices/file-progress.ts';
import { withReleased } from '../end/audit-collected.ts';
import { reviewOf } from '../end/frozen-review.ts';
import { readCollected } from '../record/session.ts';
import type { UserDeps } from '../stage/deps.ts';
import { frozenRequest } from './apply-choice.ts';
import type { Target } from './targets/target.ts';

/** The reason that the outcome of a later apply gives for a path that an earlier one applied. */
const APPLIED_BEFORE = 'applied before';

/**
 * Paths of a session that earlier applies brought and the target still has: a project with or without later edits by the
 * user. What the user removed can be applied again. Reads the target, writes nothing.
 *
 * @throws {RunClaudeError} LOCK_HELD, and what the store throws.
 */
async function appliedPaths(
  { record, collected, whole, target }: Comparing,
  deps: UserDeps,
): Promise<ReadonlySet<string>> {
  const before = new Map((record.outcome?.changes ?? []).filter(isWholeApplied).map((one) => [one.path, one]));
  const chosen = collected.changes.filter(({ path }) => before.has(path)).map((change) => ({ change }));
  if (chosen.length === 0) return new Set();
  const choice = { decided: true, discard: false, chosen, left: [], folders: [] };
  const request = { ...frozenRequest(record, choice, deps), conflict: 'keep', dryRun: true } as const;
  const { outcome } = await target.apply({ ...request, audit: () => [], acceptMerge: async () => false }, whole);
  const present = outcome.changes.filter((one) => {
    const earlier = before.get(one.path);
    return earlier !== undefined && target.has(one, earlier);
  });
  return new Set(present.map(({ path }) => path));
}

interface Comparing {
  readonly record: SessionRecord;
  readonly collected: CollectedRecord;
  readonly whole: Review;
  readonly target: Target;
}

/** A session's changes, compared with the target as it is now. */
export interface RemainingReview {
  /** All that the session changed. */
  readonly whole: Review;
  /** What of it the target does not have. */
  readonly review: Review;
  /** Outcomes for the paths that earlier applies brought and the target still has. */
  readonly appliedBefore: readonly ChangeOutcome[];
}

/**
 * What can still be applied of a session that may have been applied in part, before it was resumed or by an earlier
 * command. `record` has the policy that decides what is suspect; `release` is as in {@link reviewOf}.
 *
 * @throws {RunClaudeError} LOCK_HELD, what withReleased throws, and what the store and the target throw.
 */
export async function reviewRemaining(
  target: Target,
  record: SessionRecord,
  deps: UserDeps,
  release?: boolean | readonly string[],
): Promise<RemainingReview> {
  const collected = await withReleased(record, readCollected(record.plan.sessionDir), release ?? false, deps);
  const whole = reviewOf(record, collected, release);
  const applied = await appliedPaths({ record, collected, whole, target }, deps);
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

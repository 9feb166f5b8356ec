import { RunClaudeError } from '../../core/errors.ts';
import type { Review } from '../../core/types/review.ts';
import type { CollectedRecord, SessionRecord } from '../../core/types/session.ts';
import { buildReview } from '../../review/choices/build-review.ts';
import { readCollected } from '../record/session.ts';
import type { UserDeps } from '../stage/deps.ts';

// Without the audit: a listing of sessions reads many reviews, and loading the audit's rules takes longer than that.

/**
 * The changes of a collected session that can be chosen, by its own policy. `release` is what `--include-ignored` of a
 * later `apply` names. Reads only what was frozen.
 */
export function reviewOf(
  record: SessionRecord,
  collected: CollectedRecord = readCollected(record.plan.sessionDir),
  release: boolean | readonly string[] = false,
): Review {
  const { plan, commits } = record;
  const { policy } = plan;
  const review = buildReview({
    collected,
    findings: collected.findings,
    allowSuspect: policy.allowSuspect,
    includeIgnored: policy.includeIgnored,
    release,
    ...(collected.claude && { claude: collected.claude }),
  });
  return commits === undefined ? review : { ...review, commits };
}

/**
 * Audits a session now whose audit is missing, see {@link auditNow}. The audit is loaded for such a session only: it is most
 * of this program.
 *
 * @throws {RunClaudeError} what auditNow throws.
 */
export async function auditIfMissing(record: SessionRecord, deps: UserDeps): Promise<void> {
  const collected = collectedIfAny(record.plan.sessionDir);
  if (collected === undefined || !mayBeMissing(collected)) return;
  const { auditNow } = await import('./audit-collected.ts');
  await auditNow(record, collected, deps);
}

/** A record of an earlier release says by a finding alone that a change was not judged. */
function mayBeMissing({ unaudited, unjudged, findings }: CollectedRecord): boolean {
  return unaudited !== undefined || unjudged !== undefined || findings.some(({ rule }) => rule === 'unreadable');
}

function collectedIfAny(sessionDir: string): CollectedRecord | undefined {
  try {
    return readCollected(sessionDir);
  } catch (error) {
    if (error instanceof RunClaudeError && ['NOTHING_COLLECTED', 'SESSION_FAILED'].includes(error.code))
      return undefined;
    throw error;
  }
}

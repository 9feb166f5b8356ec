import type { Review } from '../../core/types/review.ts';
import type { CollectedRecord, SessionRecord } from '../../core/types/session.ts';
import { buildReview } from '../../review/choices/build-review.ts';
import { readCollected } from '../record/session.ts';

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

import type { Policy } from '../../../core/types/policy.ts';
import type { Review } from '../../../core/types/review.ts';
import { buildReview } from '../../../review/choices/build-review.ts';
import type { AuditedSource } from './source.ts';

export interface MergedSources {
  readonly review: Review;
  /** Undefined where nothing was audited. */
  readonly policy: Policy | undefined;
  /** The common base, where there is one. */
  readonly base: string | undefined;
  readonly label: string;
}

const NOTHING: Review = buildReview({
  collected: { changes: [], problems: [], withheld: [], baseEntries: 0 },
  findings: [],
  allowSuspect: [],
  includeIgnored: true,
});

/** One review of all, for a report and a verdict. A path that several change is in it several times. */
export function mergeSources(audited: readonly AuditedSource[]): MergedSources {
  const [first, ...others] = audited;
  if (first === undefined) return { review: NOTHING, policy: undefined, base: undefined, label: 'nothing to audit' };
  const isOneBase = others.every(({ base }) => base === first.base);
  const review = others.map((one) => one.review).reduce(mergeReviews, first.review);
  return { review, policy: first.policy, base: isOneBase ? first.base : undefined, label: first.label };
}

function mergeReviews(one: Review, next: Review): Review {
  const massDeletion = one.massDeletion ?? next.massDeletion;
  return {
    ...one,
    items: [...one.items, ...next.items],
    decisions: [...one.decisions, ...next.decisions],
    general: [...one.general, ...next.general],
    problems: [...one.problems, ...next.problems],
    withheld: [...one.withheld, ...next.withheld],
    counts: {
      created: one.counts.created + next.counts.created,
      modified: one.counts.modified + next.counts.modified,
      deleted: one.counts.deleted + next.counts.deleted,
      mode: one.counts.mode + next.counts.mode,
      type: one.counts.type + next.counts.type,
      renamed: one.counts.renamed + next.counts.renamed,
    },
    massDeletion,
    isUnaudited: one.isUnaudited || next.isUnaudited,
  };
}

import { type Finding, SEVERITY_RANK, type Severity } from '../types/finding.ts';
import type { Review } from '../types/review.ts';

/** Every finding of a review, the worst first, then by path. */
export function findingsOf(review: Review): readonly Finding[] {
  const items = [...review.items, ...(review.claude?.items ?? [])];
  const all = [...items.flatMap((item) => item.findings), ...review.general, ...(review.claude?.general ?? [])];
  return all.sort(
    (a, b) => SEVERITY_RANK[a.severity] - SEVERITY_RANK[b.severity] || (a.path < b.path ? -1 : a.path > b.path ? 1 : 0),
  );
}

/** Whether a finding is at or above the severity that --fail-on names. */
export function reachesSeverity(failOn: Severity | undefined, review: Review): boolean {
  return (
    failOn !== undefined && findingsOf(review).some(({ severity }) => SEVERITY_RANK[severity] <= SEVERITY_RANK[failOn])
  );
}

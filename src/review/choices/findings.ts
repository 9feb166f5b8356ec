import { type Finding, SEVERITY_RANK, type Severity } from '../../core/types/finding.ts';
import type { Review } from '../../core/types/review.ts';
import { newRepositories, oncePerRepository } from './new-repositories.ts';

/** Whether a rehearsal found it: an audit of the same changes does not find it again. */
export function isRehearsed({ rule }: Pick<Finding, 'rule'>): boolean {
  return rule.startsWith('rehearsed-') || rule.startsWith('rehearsal-');
}

/** Every finding of a review, the worst first, then by path. */
export function findingsOf(review: Review): readonly Finding[] {
  const items = [...review.items, ...(review.claude?.items ?? [])];
  const all = [...items.flatMap((item) => item.findings), ...review.general, ...(review.claude?.general ?? [])];
  return all.sort(
    (a, b) => SEVERITY_RANK[a.severity] - SEVERITY_RANK[b.severity] || (a.path < b.path ? -1 : a.path > b.path ? 1 : 0),
  );
}

/** The findings at or above the severity that --fail-on names, the worst first. */
export function findingsAtLeast(failOn: Severity | undefined, review: Review): readonly Finding[] {
  if (failOn === undefined) return [];
  return findingsOf(review).filter(({ severity }) => SEVERITY_RANK[severity] <= SEVERITY_RANK[failOn]);
}

/** Whether there is such a finding. */
export function reachesSeverity(failOn: Severity | undefined, review: Review): boolean {
  return findingsAtLeast(failOn, review).length > 0;
}

/** The findings of a report: one for each repository that the session made, in place of those of its parts. */
export function reportedFindings(review: Review): readonly Finding[] {
  return oncePerRepository(findingsOf(review), newRepositories(review));
}

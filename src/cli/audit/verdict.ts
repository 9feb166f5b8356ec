import { EXIT } from '../../core/errors.ts';
import type { Finding } from '../../core/types/finding.ts';
import type { Review } from '../../core/types/review.ts';

/**
 * What an audit says of changes as a whole. pass: nothing needs a decision. needs a person: suspect changes, or a mass
 * deletion. forbidden: a change that no review accepts, or that could not be judged.
 */
export type Verdict = 'pass' | 'needs a person' | 'forbidden';

/** The exit status of `audit` for each verdict. */
export const VERDICT_STATUS: Readonly<Record<Verdict, number>> = {
  pass: EXIT.ok,
  'needs a person': EXIT.needsPerson,
  forbidden: EXIT.heldBack,
};

const WORST: readonly Verdict[] = ['forbidden', 'needs a person', 'pass'];

/** The verdict on a review. Paths that the user allows count as accepted. */
export function verdictOf(review: Review): Verdict {
  const items = [...review.items, ...(review.claude?.items ?? [])];
  const general = [...review.general, ...(review.claude?.general ?? [])];
  const has = (severity: Finding['severity'], findings: readonly Finding[]): boolean =>
    findings.some((one) => one.severity === severity);
  const isForbidden = items.some(({ state, findings }) => state === 'blocked' || has('blocked', findings));
  if (review.isUnaudited || isForbidden || has('blocked', general) || review.problems.length > 0) return 'forbidden';
  const isOpen = items.some(
    ({ state, findings, unignored }) =>
      state === 'suspect' || unignored === 'suspect' || (state === 'git' && has('suspect', findings)),
  );
  return isOpen || has('suspect', general) || review.massDeletion !== undefined ? 'needs a person' : 'pass';
}

/** The worst of several; without any, there was nothing to judge. */
export function worstVerdict(verdicts: readonly Verdict[]): Verdict {
  return WORST.find((one) => verdicts.includes(one)) ?? 'pass';
}

import type { Review } from '../../core/types/review.ts';
import type { ApplyOutcome, ChangeOutcome } from '../../core/types/session.ts';
import { claudePath } from './claude-items.ts';
import { isLeak } from './leak.ts';

/** One change that a decision held back, with the reason. */
export interface HeldBack {
  readonly path: string;
  readonly verdict: 'blocked' | 'suspect';
  readonly why: string;
}

/**
 * All that is held back, which makes exit status 121: of an apply, in a `.git`, and of Claude's data. Status and words come
 * from this list. Not cleaned.
 */
export function heldBack(
  review: Review,
  { changes, claude = [] }: Partial<ApplyOutcome> & { readonly changes: ApplyOutcome['changes'] },
): HeldBack[] {
  const own = claude.map((one) => ({ verdict: one.verdict, path: claudePath(one.path), why: "Claude's data" }));
  const attempts = [
    ...(review.claude?.items ?? []).flatMap((item) => item.findings),
    ...(review.claude?.general ?? []),
  ];
  return [
    ...[...changes, ...own].flatMap(({ path, verdict, why }) => {
      const isHeld = verdict === 'blocked' || verdict === 'suspect';
      return isHeld ? [{ path, verdict, why: why ?? verdict }] : [];
    }),
    // Inside git's own directory, where they stay whatever is answered.
    ...review.items.flatMap(({ state, change, findings }) => {
      const suspect = state === 'git' ? findings.find(({ severity }) => severity === 'suspect') : undefined;
      return suspect === undefined ? [] : [{ path: change.path, verdict: 'suspect' as const, why: suspect.why }];
    }),
    // On no change: what the session sent.
    ...review.general.filter(isLeak).map(({ path, title }) => ({ path, verdict: 'blocked' as const, why: title })),
    ...attempts
      .filter(({ severity }) => severity === 'blocked')
      .map(({ path, why }) => ({ path, verdict: 'blocked' as const, why })),
  ];
}

/** How many changes of an apply are in conflict or failed, and how many can still be applied. */
export function outcomeCounts(outcome: ApplyOutcome): { readonly conflicts: number; readonly waiting: number } {
  const all = [...outcome.changes, ...(outcome.claude ?? [])];
  const count = (...verdicts: ChangeOutcome['verdict'][]): number =>
    all.filter((change) => verdicts.includes(change.verdict)).length;
  return {
    conflicts: count('conflict', 'failed'),
    waiting: count('conflict', 'failed', 'suspect', 'skipped'),
  };
}

import { EXIT } from '../../core/errors.ts';
import type { Review } from '../../core/types/review.ts';
import type { ApplyOutcome } from '../../core/types/session.ts';
import { fileProgress } from '../../review/choices/file-progress.ts';
import { heldBack, outcomeCounts } from '../../review/choices/held-back.ts';
import { resultLine } from '../../review/screen/outcome-lines.ts';
import type { UserDeps } from '../stage/deps.ts';
import type { Applying } from './apply-choice.ts';
import { endStatus } from './end-status.ts';
import { heldLines } from './outcome-words.ts';

/**
 * Prints what an apply would do. Returns the exit status that it would have: what stays in a `.git` and out of the agent's
 * data counts as in an apply. `whole`: all that the session changed.
 */
export function endDryRun(
  { record, target, review, whole, outcome }: Applying & { readonly whole: Review; readonly outcome: ApplyOutcome },
  deps: UserDeps,
): number {
  const held = heldBack(review, outcome);
  const named = new Set<string>(outcome.changes.map(({ path }) => path));
  const lines = [
    resultLine(fileProgress(review, outcome.changes), 'Would apply', target.words.place),
    // The command lists each path of the outcome.
    ...heldLines(held.filter(({ path }) => !named.has(path))),
  ];
  for (const text of lines) deps.tell({ kind: 'message', level: 'info', text });
  const { conflicts } = outcomeCounts(outcome);
  const agent = { status: EXIT.ok, stopReason: undefined, isEarlier: true as const };
  return endStatus({ record, whole, agent, conflicts, decided: true, heldBack: held.length, waiting: 0 }, deps);
}

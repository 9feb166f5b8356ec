import { EXIT } from '../../core/errors.ts';
import type { Review } from '../../core/types/review.ts';
import type { ApplyOutcome, SessionRecord } from '../../core/types/session.ts';
import { fileProgress } from '../../review/choices/file-progress.ts';
import { findingsFrom } from '../../review/choices/findings.ts';
import { heldBack, outcomeCounts } from '../../review/choices/held-back.ts';
import { resultLine } from '../../review/screen/outcome-lines.ts';
import { exitStatus } from '../record/exit-status.ts';
import type { UserDeps } from '../stage/deps.ts';
import { failOnLine, heldLines } from './outcome-words.ts';

/**
 * Prints what an apply would do. Returns the exit status that it would have: what stays in a `.git` and out of Claude's data
 * counts as in an apply. `whole`: all that the session changed.
 */
export function endDryRun(
  { plan }: SessionRecord,
  { review, whole, outcome }: { readonly review: Review; readonly whole: Review; readonly outcome: ApplyOutcome },
  { tell }: UserDeps,
): number {
  const { failOn } = plan.policy;
  const [held, reached] = [heldBack(review, outcome), findingsFrom(failOn, whole)];
  const named = new Set<string>(outcome.changes.map(({ path }) => path));
  const reason = failOnLine(failOn, reached);
  const lines = [
    resultLine(fileProgress(review, outcome.changes), 'Would apply'),
    // The command lists each path of the outcome.
    ...heldLines(held.filter(({ path }) => !named.has(path))),
    ...(reason === undefined ? [] : [reason]),
  ];
  for (const text of lines) tell({ kind: 'message', level: 'info', text });
  return exitStatus({
    limited: false,
    conflicts: outcomeCounts(outcome).conflicts,
    decided: true,
    heldBack: held.length,
    failOn: reached.length > 0,
    waiting: 0,
    agent: EXIT.ok,
  });
}

import { RunClaudeError } from '../../core/errors.ts';
import type { ApplyOutcome, ChangeOutcome, SessionRecord } from '../../core/types/session.ts';
import { isApplied } from '../../review/choices/file-progress.ts';
import { readRecord } from '../record/session.ts';

// Two terminals may review one session: what is in the project is what the record says now, and not what it was when a
// question was asked.

/** Reason of a change that another command applied while the user was asked about it. */
export const APPLIED_SINCE = 'was applied since by another command';

/** The record of a session as it is on the disk now; the given one where it cannot be read. */
export function recordNow(seen: SessionRecord): SessionRecord {
  try {
    return readRecord(seen.plan.sessionDir) ?? seen;
  } catch (error) {
    if (!(error instanceof RunClaudeError)) throw error;
    return seen;
  }
}

/** Paths that another command applied after `seen` was read. */
export function appliedSince(seen: SessionRecord, now: SessionRecord): ReadonlySet<string> {
  const before = appliedPaths(seen.outcome);
  return new Set([...appliedPaths(now.outcome)].filter((path) => !before.has(path)));
}

function appliedPaths(outcome: ApplyOutcome | undefined): ReadonlySet<string> {
  return new Set((outcome?.changes ?? []).filter(isApplied).map(({ path }) => path));
}

/** The outcome of an apply, in which no file counts as left that another command applied. */
export function withAppliedSince(
  outcomes: readonly ChangeOutcome[],
  since: ReadonlySet<string>,
): readonly ChangeOutcome[] {
  return outcomes.map((one) =>
    !isApplied(one) && since.has(one.path) ? { path: one.path, verdict: 'same', why: APPLIED_SINCE } : one,
  );
}

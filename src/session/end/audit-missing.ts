import { RunClaudeError } from '../../core/errors.ts';
import type { CollectedRecord, SessionRecord } from '../../core/types/session.ts';
import { readCollected } from '../record/session.ts';
import type { UserDeps } from '../stage/deps.ts';

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

import { RunClaudeError, usageError } from '../../errors.ts';
import { ownerState } from '../../record/session.ts';
import type { SessionRecord } from '../../types/session.ts';

/**
 * Refuses a session on which nothing can be decided now.
 *
 * @throws {RunClaudeError} USAGE when it was discarded, SESSION_RUNNING while its agent runs.
 */
export function requireEnded(record: SessionRecord): void {
  if (record.stage === 'discarded')
    throw usageError(
      `session ${record.id} was discarded`,
      `See what it had changed with: run-claude diff ${record.id}`,
    );
  if (record.stage !== 'running' || ownerState(record) === 'ended') return;
  throw new RunClaudeError('SESSION_RUNNING', `session ${record.id} is still running (process ${record.owner?.pid})`, {
    hint: 'Wait for its end, or end it where it runs.',
  });
}

import { RunClaudeError, usageError } from '../../errors.ts';
import { isKept, ownerState } from '../../record/session.ts';
import type { SessionRecord, Stage } from '../../types/session.ts';

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
  if (!UNDER_WAY.includes(record.stage) || ownerState(record) === 'ended') return;
  const what = record.stage === 'planned' ? 'is still starting' : 'is still running';
  throw new RunClaudeError('SESSION_RUNNING', `session ${record.id} ${what} (process ${record.owner?.pid})`, {
    hint: `Wait for its end, or end it: run-claude ${isKept(record) ? 'down' : 'stop'} ${record.id}`,
  });
}

const UNDER_WAY: readonly Stage[] = ['planned', 'running', 'ended'];

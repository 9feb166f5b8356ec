import { RunClaudeError, usageError } from '../../core/errors.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import { isUnderWay } from './find/pick-session.ts';
import { isKept, ownerState, wasCollected } from './session.ts';
import { requireStarted } from './start-failure.ts';

// What a state of a session rules out, in one sentence for every command.

/**
 * For what decides about a session: not while its agent runs, and not after it was discarded.
 *
 * @throws {RunClaudeError} USAGE when it was discarded, SESSION_RUNNING while its agent runs.
 */
export function requireEnded(record: SessionRecord): void {
  refuseDiscarded(record);
  if (!isUnderWay(record) || ownerState(record) === 'ended') return;
  const what = record.stage === 'planned' ? 'is still starting' : 'is still running';
  throw new RunClaudeError('SESSION_RUNNING', `session ${record.id} ${what} (process ${record.owner?.pid})`, {
    hint: `Wait for its end, or end it: run-claude ${isKept(record) ? 'down' : 'stop'} ${record.id}`,
  });
}

/**
 * For what reads what a session made: its start did not fail, and it was not discarded.
 *
 * @throws {RunClaudeError} SESSION_FAILED with the reason, USAGE when it was discarded.
 */
export function requireWork(record: SessionRecord): void {
  requireStarted(record);
  refuseDiscarded(record);
}

/** For what takes the changes of a session that has ended. Throws as requireWork and requireEnded. */
export function requireChanges(record: SessionRecord): void {
  requireWork(record);
  requireEnded(record);
}

function refuseDiscarded({ id, stage, plan }: SessionRecord): void {
  if (stage !== 'discarded') return;
  const hint = wasCollected(plan.sessionDir)
    ? `See what it had changed with: run-claude diff ${id}`
    : 'Its changes were not collected before.';
  throw usageError(`session ${id} was discarded`, hint);
}

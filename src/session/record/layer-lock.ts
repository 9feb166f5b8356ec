import path from 'node:path';
import { RunClaudeError } from '../../core/errors.ts';
import { type LockOptions, withLock } from '../../core/store/lock.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import { requireWork } from './require-usable.ts';
import { isLayerKept, ownerState } from './session.ts';

/**
 * Runs `body` while no other command uses the layer of a session that has ended: the kernel does not define what two
 * overlay mounts of one layer do.
 *
 * @throws {RunClaudeError} SESSION_RUNNING; SESSION_FAILED with the reason of a start that failed; USAGE for a discarded session; LAYER_GONE
 * with what cannot be done without the layer; LOCK_HELD.
 */
export async function withLayer<T>(record: SessionRecord, what: string, body: () => Promise<T>): Promise<T> {
  const { plan, stage, id } = record;
  if (stage === 'running' && ownerState(record) !== 'ended') {
    throw new RunClaudeError('SESSION_RUNNING', `session ${id} is still running (process ${record.owner?.pid})`, {
      hint: 'See its changes so far with: run-claude status',
    });
  }
  requireWork(record);
  if (!isLayerKept(record)) {
    throw new RunClaudeError('LAYER_GONE', `the working copy of session ${id} was removed`, {
      hint: hintWithoutLayer(record),
    });
  }
  return withLayerLock(plan, what, body);
}

function hintWithoutLayer({ bound, imported }: SessionRecord): string {
  if (imported !== undefined)
    return 'An imported session has its changes only. Its commits and its working copy are on the machine where it ran.';
  if (bound !== undefined)
    return 'A bind session keeps only its repository, for two weeks, and only if it has commits.';
  return 'It is kept until everything is applied, and for two weeks at most. You can still use diff, apply and undo. To go on, start a new session.';
}

/**
 * As {@link withLayer}, for a session that has ended, with or without a layer.
 *
 * @throws {RunClaudeError} LOCK_HELD.
 */
export function withLayerLock<T>(
  { sessionDir }: Plan,
  what: string,
  body: () => Promise<T>,
  options: Pick<LockOptions, 'withoutRoom'> = {},
): Promise<T> {
  return withLock(path.join(sessionDir, 'layer.lock'), { ...options, what }, body);
}

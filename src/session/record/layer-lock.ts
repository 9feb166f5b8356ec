import { AsyncLocalStorage } from 'node:async_hooks';
import path from 'node:path';
import { RunClaudeError } from '../../core/errors.ts';
import { type LockOptions, withLock } from '../../core/store/lock.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import { requireWork } from './require-usable.ts';
import { isLayerKept, ownerState } from './session.ts';

/** The directories of the sessions whose layer's lock the caller's caller holds. */
const held = new AsyncLocalStorage<ReadonlySet<string>>();

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
 * As {@link withLayer}, for a session that has ended, with or without a layer. What runs while the lock is held takes it
 * again: the agent of a resumed session is followed by its tests and its rehearsal.
 *
 * @throws {RunClaudeError} LOCK_HELD.
 */
export function withLayerLock<T>(
  { sessionDir }: Plan,
  what: string,
  body: () => Promise<T>,
  options: Pick<LockOptions, 'withoutRoom'> = {},
): Promise<T> {
  const mine = held.getStore() ?? new Set();
  if (mine.has(sessionDir)) return body();
  const file = path.join(sessionDir, 'layer.lock');
  return withLock(file, { ...options, what }, () => held.run(new Set([...mine, sessionDir]), body));
}

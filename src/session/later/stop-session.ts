import { setTimeout as sleep } from 'node:timers/promises';
import { RunClaudeError } from '../../core/errors.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import { requestStop, whyStopped } from '../record/events/stop-request.ts';
import { isStoppable } from '../record/find/pick-session.ts';
import { ownerState, readRecord } from '../record/session.ts';

const POLL_MS = 200;

/**
 * Asks the command that runs the session to end its agent and to collect the changes, and waits until that is done.
 * Returns the record as it is then. Where the command was killed, the changes still have to be collected.
 *
 * @throws {RunClaudeError} SESSION_ENDED when its agent does not run any more, OWNER_UNKNOWN when its command cannot be
 * signalled from here.
 */
export async function stopRunning(record: SessionRecord, signal: AbortSignal, why?: string): Promise<SessionRecord> {
  const { id, owner, plan } = record;
  if (!isStoppable(record)) {
    throw new RunClaudeError('SESSION_ENDED', `the agent of session ${id} is not running`, {
      hint: `See what it changed with: run-claude status ${id}`,
    });
  }
  const state = ownerState(record);
  // It may have come to its end since its record was read.
  if (state === 'ended' || owner === undefined) return readRecord(plan.sessionDir) ?? record;
  if (state === 'unknown') throw unreachable(record);
  requestStop(plan.sessionDir, why);
  try {
    process.kill(owner.pid, 'SIGTERM');
    // A suspended process receives SIGTERM only when it continues.
    process.kill(owner.pid, 'SIGCONT');
  } catch (error) {
    whyStopped(plan.sessionDir);
    if ((error as NodeJS.ErrnoException).code === 'EPERM') throw unreachable(record);
    // The command ended in the meantime.
  }
  for (let now = record; ; ) {
    if (ownerState(now) !== 'alive' || signal.aborted) {
      whyStopped(plan.sessionDir);
      return now;
    }
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
    now = readRecord(plan.sessionDir) ?? { ...now, stage: 'failed' };
  }
}

function unreachable({ id, owner }: SessionRecord): RunClaudeError {
  return new RunClaudeError(
    'OWNER_UNKNOWN',
    `the command of session ${id} (process ${owner?.pid} on ${owner?.host.split(' ')[0]}) cannot be stopped from here`,
    { hint: 'Run this command on that host, as the user who started the session.' },
  );
}

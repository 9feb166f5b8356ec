import { setTimeout as sleep } from 'node:timers/promises';
import { RunClaudeError, usageError } from '../../errors.ts';
import { agentSession } from '../../record/beside.ts';
import { findSession } from '../../record/find-session.ts';
import { listSessions, ownerState, readRecord } from '../../record/session.ts';
import { requestStop, whyStopped } from '../../record/stop-request.ts';
import type { SessionRecord } from '../../types/session.ts';

const POLL_MS = 200;

/** Whether the session's agent runs or is about to, also where its command was killed. */
function isRunning({ stage }: SessionRecord): boolean {
  return stage === 'planned' || stage === 'running';
}

/**
 * The session that `stop` is about: the one with this id, or the only running one of the project that contains `folder`
 * and is wanted. For a folder besides a project, the session of its agent.
 *
 * @throws {RunClaudeError} USAGE when there is none, or more than one.
 */
export function findStoppable(
  stateDir: string,
  id: string | undefined,
  folder: string,
  isWanted: (record: SessionRecord) => boolean = () => true,
): SessionRecord {
  if (id !== undefined) return agentSession(findSession(stateDir, id, folder));
  const running = listSessions(stateDir).sessions.filter(
    (one) => isRunning(one) && isWanted(one) && (folder === one.project || folder.startsWith(`${one.project}/`)),
  );
  const [only, ...others] = running;
  if (only === undefined) {
    throw usageError(
      `no session of ${folder} is running`,
      'List the sessions of all projects with: run-claude sessions',
    );
  }
  if (others.length > 0) {
    throw usageError(
      `${running.length} sessions of ${folder} are running`,
      `Name one: ${running.map((one) => one.id).join(', ')}`,
    );
  }
  return agentSession(only);
}

/**
 * Asks the command that runs the session to end its agent and to collect the changes, and waits until that is done.
 * Returns the record as it is then. Where the command was killed, the changes still have to be collected.
 *
 * @throws {RunClaudeError} SESSION_ENDED when its agent does not run any more, OWNER_UNKNOWN when its command cannot be
 * signalled from here.
 */
export async function stopRunning(record: SessionRecord, signal: AbortSignal, why?: string): Promise<SessionRecord> {
  const { id, owner, plan } = record;
  if (!isRunning(record)) {
    throw new RunClaudeError('SESSION_ENDED', `the agent of session ${id} is not running`, {
      hint: `See what it changed with: run-claude status ${id}`,
    });
  }
  const state = ownerState(record);
  if (state === 'ended' || owner === undefined) return record;
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

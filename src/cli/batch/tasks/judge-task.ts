import { EXIT } from '../../../core/errors.ts';
import type { SessionRecord } from '../../../core/types/session.ts';
import type { TaskResult } from './task.ts';

/** How the process of a session ended. */
export interface TaskEnd {
  /** Undefined: it was killed, or an earlier run started it. */
  readonly status: number | undefined;
  readonly session: Pick<SessionRecord, 'stage' | 'agentStatus' | 'stoppedBecause'> | undefined;
  /** The engine does not answer any more. */
  readonly isEngineLost: boolean;
}

/** What `stoppedBecause` says of sessions that ended with their command and not for their own reason. */
const CUT_OFF: readonly string[] = ['interrupted', 'run-claude was killed'];
const STOPPED: readonly number[] = [EXIT.interrupted, EXIT.terminated];

/**
 * How a task ended. Pending changes and findings are no failure. A task whose agent ended with a failure, or was stopped
 * by a limit or by `run-claude stop`, has failed.
 */
export function judgeTask({ status, session, isEngineLost }: TaskEnd): TaskResult {
  if (isEngineLost) return 'interrupted';
  if (session === undefined) return status === undefined || STOPPED.includes(status) ? 'interrupted' : 'failed';
  const { stage, stoppedBecause, agentStatus } = session;
  if (stoppedBecause !== undefined) return CUT_OFF.includes(stoppedBecause) ? 'interrupted' : 'failed';
  if (status !== undefined && STOPPED.includes(status)) return 'interrupted';
  if (stage === 'failed' || status === EXIT.failed || status === EXIT.usage) return 'failed';
  if (agentStatus === undefined) return 'interrupted';
  return agentStatus === 0 ? 'done' : 'failed';
}

/**
 * The exit status of a task for that of its batch. A session that was stopped or killed by itself counts as one that
 * failed: the batch was not interrupted.
 */
export function statusOfTask(result: TaskResult | undefined, status: number | undefined): number {
  if (status === undefined || STOPPED.includes(status) || status === EXIT.usage)
    return result === 'done' ? EXIT.ok : EXIT.failed;
  return status;
}

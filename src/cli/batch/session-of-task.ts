import path from 'node:path';
import { RunClaudeError } from '../../core/errors.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import { readOwnReportForList } from '../../session/end/report/own-report.ts';
import { sessionFacts } from '../../session/end/report/session-facts.ts';
import { needsRecovery } from '../../session/later/recover-project.ts';
import { listSessions, ownerState, readRecord, sessionsDir } from '../../session/record/session.ts';
import { failureText } from '../../session/record/start-failure.ts';
import { stateText } from '../sessions/session-lines.ts';
import { judgeTask } from './tasks/judge-task.ts';
import type { EarlierSession } from './tasks/next-step.ts';
import type { TaskFacts, TaskRecord } from './tasks/task.ts';

/** The name of a task in the records of its sessions. */
export const taskName = (batchKey: string, id: string): string => `${batchKey}/${id}`;

/** The newest session of each task, by the task's name. */
export function sessionsByTask(stateDir: string): ReadonlyMap<string, SessionRecord> {
  const found = new Map<string, SessionRecord>();
  for (const record of listSessions(stateDir).sessions) {
    const { task } = record.plan;
    if (task !== undefined && !found.has(task)) found.set(task, record);
  }
  return found;
}

/** A session as it is now; undefined where it was removed, or cannot be read. */
export function readSession(stateDir: string, id: string): SessionRecord | undefined {
  try {
    return readRecord(path.join(sessionsDir(stateDir), id));
  } catch (error) {
    if (error instanceof RunClaudeError) return undefined;
    throw error;
  }
}

/** What an earlier run of the file left of a task's session. */
export function earlierSession(session: SessionRecord | undefined): EarlierSession {
  if (session === undefined) return undefined;
  if (needsRecovery(session)) return 'cut-off';
  return ownerState(session) === 'ended' ? 'ended' : 'running';
}

/** What the table shows of a session; undefined where its files cannot be read. */
export function factsOfSession(session: SessionRecord): TaskFacts | undefined {
  try {
    const facts = sessionFacts(session);
    const { suspect, blocked } = facts.paths;
    const found = [...(suspect > 0 ? [`${suspect} suspect`] : []), ...(blocked > 0 ? [`${blocked} blocked`] : [])];
    return {
      verdict: [stateText(facts), ...found].join(', '),
      files: facts.files?.total,
      costUsd: session.usage?.costUsd,
    };
  } catch (error) {
    if (error instanceof RunClaudeError) return undefined;
    throw error;
  }
}

/** The record of a task whose session ended while no batch watched it. */
export function judgeEarlier(record: TaskRecord, session: SessionRecord): TaskRecord {
  const status = readOwnReportForList(session.plan.sessionDir)?.exitStatus;
  return {
    ...record,
    session: session.id,
    status,
    result: judgeTask({ status, session, isEngineLost: false }),
    ms: Math.max(0, Date.parse(session.updated) - Date.parse(record.started)),
    shown: factsOfSession(session),
  };
}

/** Why a task failed, where its process did not say it. */
export function whyFailed(record: SessionRecord): string | undefined {
  const { agentStatus, stoppedBecause, stage } = record;
  if (stage === 'failed') return failureText(record);
  if (stoppedBecause !== undefined) return stoppedBecause;
  return agentStatus === undefined || agentStatus === 0 ? undefined : `the agent ended with ${agentStatus}`;
}

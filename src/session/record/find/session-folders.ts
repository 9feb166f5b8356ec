import path from 'node:path';
import type { Plan } from '../../../core/types/plan.ts';
import type { SessionRecord } from '../../../core/types/session.ts';
import { readRecord } from '../session.ts';

const siblingRecord = ({ plan }: SessionRecord, id: string): SessionRecord | undefined =>
  readRecord(path.join(path.dirname(plan.sessionDir), id));

/** The session whose agent works on a session's files: another one where they are a folder besides its project. */
export function agentSession(record: SessionRecord): SessionRecord {
  const { besideSession } = record.plan;
  return (besideSession === undefined ? undefined : siblingRecord(record, besideSession)) ?? record;
}

/** The sessions of the folders besides a session's project that its agent could write to. */
export function extraFolderSessions(record: SessionRecord): readonly SessionRecord[] {
  const writable = (record.plan.also ?? []).filter(({ isReadonly }) => !isReadonly);
  return writable.flatMap(({ sessionId }) => siblingRecord(record, sessionId) ?? []);
}

/** Real paths of the folders that a session is about: the project's, then those of `--also`. */
export function foldersOf({ project, also = [] }: Pick<Plan, 'project' | 'also'>): readonly string[] {
  return [project, ...also.map((folder) => folder.project)].map(({ root }) => root);
}

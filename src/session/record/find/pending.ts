import type { SessionRecord } from '../../../core/types/session.ts';
import { listSessions, ownerState } from '../session.ts';
import { isPending } from './pick-session.ts';

/** Whether a session is pending, as {@link isPending} defines it. */
export function isPendingSession(record: SessionRecord): boolean {
  return isPending({ stage: record.stage, isOwned: ownerState(record) !== 'ended' });
}

/** The pending sessions of a project, the most recent first, without those that are folders of another one. */
export function pendingSessions(stateDir: string, project: string): readonly SessionRecord[] {
  return listSessions(stateDir).sessions.filter((one) => one.project === project && isPendingSession(one));
}

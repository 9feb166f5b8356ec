import type { SessionRecord } from '../../core/types/session.ts';
import { candidateOf } from './find-session.ts';
import { isPending } from './pick-session.ts';
import { listSessions } from './session.ts';

/** The pending sessions of a project, the most recent first, without those that are folders of another one. */
export function pendingSessions(stateDir: string, project: string): readonly SessionRecord[] {
  return listSessions(stateDir).sessions.filter((one) => one.project === project && isPending(candidateOf(one)));
}

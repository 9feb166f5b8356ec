import type { SessionRecord } from '../../core/types/session.ts';
import { pendingSessions } from '../record/find/find-session.ts';
import type { UserDeps } from '../stage/deps.ts';

/**
 * After a review on a terminal: names the next pending session of the project and the command for it, the most recent
 * first. Says nothing where there is none, or where nobody reviews.
 */
export function tellNextPending(
  { id, project }: Pick<SessionRecord, 'id' | 'project'>,
  { host, screen, tell, interruption }: UserDeps,
): void {
  if (screen === undefined || interruption.by() !== undefined) return;
  const [next, ...more] = pendingSessions(host.stateDir, project).filter((one) => one.id !== id);
  if (next === undefined) return;
  const text =
    more.length === 0
      ? `1 other session of this project is pending: run-claude apply ${next.id}`
      : `${more.length + 1} other sessions of this project are pending. Next: run-claude apply ${next.id}. One after the other: run-claude batch --review`;
  tell({ kind: 'message', level: 'info', text });
}

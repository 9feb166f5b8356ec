import { listSessions, ownerState } from '../../record/session.ts';
import { cleanLine } from '../../terminal/clean.ts';
import type { SessionRecord } from '../../types/session.ts';
import type { SessionDeps } from '../start/deps.ts';

/** Whether a session was left behind by a command that is gone, with work that nobody has collected yet. */
export function needsRecovery(record: SessionRecord): boolean {
  return ['planned', 'staged', 'running', 'ended', 'collected'].includes(record.stage) && ownerState(record) === 'gone';
}

/**
 * What killed commands left of a project's earlier sessions, before a new one starts. Throws for a bind session that
 * cannot be put right: the same files would be worked on again. A copy that cannot be collected is told, and waits.
 */
export async function recoverEarlier(project: string, deps: SessionDeps): Promise<void> {
  const { sessions, unreadable } = listSessions(deps.host.stateDir);
  for (const { id, project: its, error } of unreadable) {
    if (its !== undefined && its !== project) continue;
    const text = `Session ${id} is left as it is: ${error.message}`;
    deps.tell({ kind: 'message', level: 'warning', text: cleanLine(text) });
  }
  for (const record of sessions) {
    if (record.project !== project || !needsRecovery(record)) continue;
    try {
      // Seldom needed, and much to load.
      const { recoverSession } = await import('./recover.ts');
      const { stage, id } = await recoverSession(record, deps);
      if (stage === 'pending') {
        deps.tell({ kind: 'message', level: 'info', text: `What it changed waits: run-claude apply ${id}` });
      }
    } catch (error) {
      if (record.plan.mode === 'bind') throw error;
      const why = error instanceof Error ? error.message : String(error);
      deps.tell({ kind: 'message', level: 'warning', text: `session ${record.id} could not be collected: ${why}` });
    }
  }
}

import type { Runtime } from '../../core/types/runtime.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import { cleanLine } from '../../terminal/clean.ts';
import { isUnderWay } from '../record/pick-session.ts';
import { listSessions, ownerState } from '../record/session.ts';
import type { SessionDeps } from '../stage/deps.ts';

/** Whether the command of a session ended before it collected the session's changes. */
export function needsRecovery(record: SessionRecord): boolean {
  return isUnderWay(record) && ownerState(record) === 'ended';
}

/**
 * Recovers a project's earlier sessions whose commands were killed, before a new session starts. A copy that cannot be
 * collected is a warning, and the next command tries again. A bind session that cannot be recovered throws: an agent would
 * work on the same files.
 *
 * @param engineOf connects the engine of such a session; it is closed afterwards.
 */
export async function recoverProjectSessions(
  project: string,
  deps: SessionDeps,
  engineOf: (record: SessionRecord) => Promise<Runtime>,
): Promise<void> {
  const { sessions, unreadable } = listSessions(deps.host.stateDir);
  for (const { id, project: its, error } of unreadable) {
    if (its !== undefined && its !== project) continue;
    const text = `Session ${id} is left as it is: ${error.message}`;
    deps.tell({ kind: 'message', level: 'warning', text: cleanLine(text) });
  }
  for (const record of sessions) {
    if (record.project !== project || !needsRecovery(record)) continue;
    try {
      // Seldom needed, and large.
      const { recoverSession } = await import('./recover.ts');
      const engine = await engineOf(record);
      const { stage, id } = await recoverOn(engine, () => recoverSession(record, { ...deps, engine }));
      if (stage === 'pending') {
        deps.tell({
          kind: 'message',
          level: 'info',
          text: `Its changes are pending, and not audited yet: run-claude apply ${id}`,
        });
      }
    } catch (error) {
      if (record.plan.mode === 'bind' || deps.interruption.signal.aborted) throw error;
      const why = error instanceof Error ? error.message : String(error);
      deps.tell({ kind: 'message', level: 'warning', text: `session ${record.id} could not be collected: ${why}` });
    }
  }
}

/** Runs `recover`, then closes the engine. */
async function recoverOn(engine: Runtime, recover: () => Promise<SessionRecord>): Promise<SessionRecord> {
  try {
    return await recover();
  } finally {
    await engine.close();
  }
}

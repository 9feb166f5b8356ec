import { openContentStore } from '../../core/store/content.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import { isUnfinished, readJournals } from '../../review/apply/disk/journal/journal.ts';
import { countProgress, fileProgress, joinOutcomes } from '../../review/choices/file-progress.ts';
import { cleanLine } from '../../terminal/clean.ts';
import { reviewOf } from '../end/frozen-review.ts';
import { outcomeAfterUndo } from '../end/outcome-after.ts';
import { isUnderWay } from '../record/find/pick-session.ts';
import { listSessions, ownerState, storeDir, updateRecord } from '../record/session.ts';
import type { SessionDeps, UserDeps } from '../stage/deps.ts';

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

/**
 * Finishes or undoes an apply that was interrupted, and reports that. To be called before anything else is done with a
 * session. Returns the record with the outcome.
 */
export async function finishApply(record: SessionRecord, deps: Pick<UserDeps, 'tell'>): Promise<SessionRecord> {
  const { plan } = record;
  const isRecorded = ['pending', 'applied'].includes(record.stage);
  const recordedAt = isRecorded ? (record.outcome?.at ?? '') : undefined;
  if (!isUnfinished(readJournals(plan.sessionDir), recordedAt)) return record;
  // Seldom needed, and large.
  const { recoverApply } = await import('../../review/apply/recover.ts');
  const finished = await recoverApply({
    project: plan.project.root,
    sessionDir: plan.sessionDir,
    store: openContentStore(storeDir(plan.sessionDir)),
    tell: deps.tell,
    ...(recordedAt === undefined ? {} : { recordedAt }),
  });
  if (finished === undefined || finished.changes.length === 0) return record;
  if (readJournals(plan.sessionDir).at(-1)?.head.kind === 'undo') {
    return updateRecord(record, { stage: 'pending', outcome: outcomeAfterUndo(record.outcome, finished) });
  }
  const outcome = { ...finished, changes: joinOutcomes(record.outcome?.changes ?? [], finished.changes) };
  const { left } = countProgress(fileProgress(reviewOf(record), outcome.changes));
  return updateRecord(record, { stage: left > 0 ? 'pending' : 'applied', outcome });
}

import { join } from 'node:path';
import { RunClaudeError } from '../../core/errors.ts';
import { removeTreeSync } from '../../core/host/files/remove-tree.ts';
import { isFullDisk } from '../../core/store/remedy.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import { removeContainer } from '../../engines/engine/containers/remove-containers.ts';
import { undoableSince } from '../../review/apply/undo.ts';
import { undoWords } from '../../review/screen/outcome-lines.ts';
import { dropLayer } from '../../workspace/view/drop-layer.ts';
import { withLayerLock } from '../record/layer-lock.ts';
import { requireEnded } from '../record/require-usable.ts';
import { forgetCollected, readRecord, updateRecord } from '../record/session.ts';
import type { UserDeps } from '../stage/deps.ts';
import { needsRecovery } from './recover-project.ts';

/**
 * `discard`: removes the session's layer; nothing of the session can be applied from then on. What an agent made is not read:
 * of a session whose command was killed the containers and volumes are removed too, and nothing is collected. Where the disk
 * is full, the layer is removed before the record is written, and after it what was frozen. The next gc removes the rest.
 *
 * @param openEngine connects the session's engine; only where nothing was collected. One that does not answer stops nothing.
 * @throws {RunClaudeError} LOCK_HELD while another command uses the layer; what requireEnded throws.
 */
export async function discardSession(
  record: SessionRecord,
  deps: Pick<UserDeps, 'tell'>,
  openEngine?: () => Promise<Runtime>,
): Promise<void> {
  requireEnded(record);
  const isUndoable = undoableSince(record.plan.sessionDir) !== undefined;
  const engine = needsRecovery(record) ? await engineIfAny(openEngine, deps) : undefined;
  try {
    await withLayerLock(
      record.plan,
      'discarding it',
      async () => {
        // An agent may have begun to work in it while the user was asked.
        const now = readRecord(record.plan.sessionDir) ?? record;
        requireEnded(now);
        if (engine !== undefined) await removeObjects(engine, now);
        await removeWork(now, engine, deps);
      },
      { withoutRoom: true },
    );
  } finally {
    await engine?.close();
  }
  deps.tell({ kind: 'message', level: 'info', text: `Session ${record.id} is discarded.${undoWords(isUndoable)}` });
}

async function engineIfAny(
  openEngine: (() => Promise<Runtime>) | undefined,
  { tell }: Pick<UserDeps, 'tell'>,
): Promise<Runtime | undefined> {
  try {
    return await openEngine?.();
  } catch (error) {
    if (!(error instanceof RunClaudeError)) throw error;
    const text = `What the session has on its engine is left to run-claude gc: ${error.message}`;
    tell({ kind: 'message', level: 'warning', text });
    return undefined;
  }
}

/** Ends what still runs, and removes what the killed command left on the engine. */
async function removeObjects(engine: Runtime, { id, plan }: SessionRecord): Promise<void> {
  const { besideSession } = plan;
  for (const owner of besideSession === undefined ? [id] : [besideSession, id]) {
    const found = await engine.list(owner);
    for (const { kind, name } of found) if (kind === 'container') await removeContainer(engine, name);
    if (owner !== id) continue;
    for (const { kind, name } of found) {
      if (kind === 'network') await engine.networks?.remove(name);
      if (kind === 'volume') await engine.removeVolume(name);
    }
  }
}

/** The record says first that the work is discarded; on a full disk it can be written only when something was removed. */
async function removeWork(
  record: SessionRecord,
  engine: Runtime | undefined,
  { tell }: Pick<UserDeps, 'tell'>,
): Promise<void> {
  const { plan } = record;
  const isRecorded = tryRecord(record);
  await dropLayer(plan, engine).catch((error: unknown) => {
    // A full disk of the engine takes no container that would empty it.
    if (!(error instanceof RunClaudeError)) throw error;
    const text = `The working copy of session ${record.id} is left to run-claude gc: ${error.message}`;
    tell({ kind: 'message', level: 'warning', text });
  });
  // The home has what the agent wrote there; one that the engine left as root's is left to gc.
  if (needsRecovery(record)) removeHome(plan.sessionDir);
  if (isRecorded || tryRecord(record)) return;
  forgetCollected(plan.sessionDir);
  updateRecord(record, DISCARDED);
}

function removeHome(sessionDir: string): void {
  try {
    removeTreeSync(join(sessionDir, 'home'));
  } catch (error) {
    if (!(error instanceof RunClaudeError)) throw error;
  }
}

const DISCARDED = { stage: 'discarded', owner: undefined } as const;

/** False where the disk has no room for the record. */
function tryRecord(record: SessionRecord): boolean {
  try {
    updateRecord(record, DISCARDED);
    return true;
  } catch (error) {
    if (!isFullDisk(error)) throw error;
    return false;
  }
}

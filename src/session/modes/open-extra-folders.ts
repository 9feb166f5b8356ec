import { RunClaudeError } from '../../core/errors.ts';
import { removeTreeSync } from '../../core/host/files/remove-tree.ts';
import { processIdentity } from '../../core/host/processes/process.ts';
import { makePrivateDir } from '../../core/store/record.ts';
import type { Mount } from '../../core/types/engine.ts';
import type { AlsoFolder, Plan } from '../../core/types/plan.ts';
import type { SessionRecord, Stage } from '../../core/types/session.ts';
import { mountsOfFolder } from '../../workspace/layer/places.ts';
import { dropLayer, hasLayer } from '../../workspace/view/drop-layer.ts';
import { openWorkspace, reopenWorkspace } from '../../workspace/view/open.ts';
import type { Workspace } from '../../workspace/view/workspace.ts';
import { planOfFolder } from '../plan/plan-run.ts';
import { withLayerLock } from '../record/layer-lock.ts';
import { rememberSecrets } from '../record/secrets/decoys.ts';
import { createRecord, isLayerKept, ownerState, readRecord, updateRecord } from '../record/session.ts';
import { startFailureOf } from '../record/start-failure.ts';
import type { SessionDeps } from '../stage/deps.ts';
import type { ViewParts } from '../stage/stage.ts';

/** A folder besides the project, open for the agent. */
export interface ExtraFolderView {
  readonly folder: AlsoFolder;
  /** Of the folder's own session. */
  readonly plan: Plan;
  readonly workspace: Workspace;
  readonly mounts: readonly Mount[];
}

/**
 * Opens the folders of a plan besides its project. Each has its own record, so that a later command finds its changes
 * whatever ends this process; that of a read-only one is removed at the end. A resumed session goes on with what it left
 * in them.
 *
 * @throws {RunClaudeError} SESSION_RUNNING and LOCK_HELD where another command uses such a session; otherwise as
 * openWorkspace
 */
export async function openExtraFolders(
  plan: Plan,
  deps: SessionDeps,
  { cleanup }: ViewParts,
): Promise<readonly ExtraFolderView[]> {
  const opened: ExtraFolderView[] = [];
  for (const folder of plan.also ?? []) {
    const own = planOfFolder(plan, folder);
    makePrivateDir(own.sessionDir);
    // Until it is closed, no other command may use, discard or remove its layer.
    const release = await holdLayer(own);
    const { workspace, before } = await openFolder(own, deps).catch((error: unknown) => {
      release();
      throw error;
    });
    cleanup.use(workspace, async (one) => {
      await one.close({ keepLayer: !folder.isReadonly });
      release();
      if (!folder.isReadonly) return closeFolder(own, plan, before);
      // Nothing comes back from it, and nothing is left of it.
      removeTreeSync(own.sessionDir);
    });
    opened.push({ folder, plan: own, workspace, mounts: mountsOfFolder(workspace.mounts, folder) });
  }
  return opened;
}

/** Holds a layer's lock until the returned function is called. @throws {RunClaudeError} LOCK_HELD. */
function holdLayer(plan: Plan): Promise<() => void> {
  return new Promise((held, failed) => {
    withLayerLock(plan, 'letting an agent work in it', () => new Promise<void>((release) => held(release))).catch(
      failed,
    );
  });
}

/** The workspace of a folder, and the stage that its session had before. */
async function openFolder(
  own: Plan,
  { engine, tell, interruption }: SessionDeps,
): Promise<{ readonly workspace: Workspace; readonly before: Stage }> {
  const found = readRecord(own.sessionDir);
  if (found !== undefined) requireFree(found);
  const isThere = found !== undefined && found.stage !== 'failed' && isLayerKept(found);
  // What was discarded must not come back.
  if (!isThere && hasLayer(own.sessionDir)) await dropLayer(own, engine);
  const record = found === undefined ? createRecord(own) : updateRecord(found, { owner: processIdentity() });
  const before = isThere ? record.stage : 'failed';
  const options = { plan: own, engine, tell, signal: interruption.signal };
  try {
    const workspace = await (isThere ? reopenWorkspace(options, found.workspace) : openWorkspace(options));
    rememberSecrets(own.sessionDir, workspace);
    updateRecord(record, { stage: 'running', failure: undefined, workspace: workspace.record });
    return { workspace, before };
  } catch (error) {
    updateRecord(record, {
      stage: before,
      owner: undefined,
      ...(before === 'failed' && { failure: startFailureOf(error) }),
    });
    throw error;
  }
}

/** Where the agent never ran, the folder's session is again what it was. */
function closeFolder(own: Plan, agents: Plan, before: Stage): void {
  const record = siblingOf(own);
  const ofAgent = readRecord(agents.sessionDir);
  const ran = ['running', 'ended'].includes(ofAgent?.stage ?? '');
  const failure = before === 'failed' ? ofAgent?.failure : undefined;
  if (record.stage === 'running' && !ran) updateRecord(record, { stage: before, failure, owner: undefined });
}

function requireFree(record: SessionRecord): void {
  if (ownerState(record) === 'ended') return;
  throw new RunClaudeError('SESSION_RUNNING', `session ${record.id} is in use (process ${record.owner?.pid})`, {
    hint: 'Wait for that command, then try again.',
  });
}

/** The record of a folder's session when its agent has ended, as the record of the agent's own session says. */
export function endExtraFolders(
  { plan }: ExtraFolderView,
  { agentStatus, stoppedBecause }: SessionRecord,
): SessionRecord {
  return updateRecord(siblingOf(plan), { stage: 'ended', agentStatus, stoppedBecause });
}

function siblingOf({ sessionDir, sessionId }: Plan): SessionRecord {
  const record = readRecord(sessionDir);
  if (record === undefined) throw new RunClaudeError('RECORD_DAMAGED', `session ${sessionId} has no record`);
  return record;
}

import { RunClaudeError } from '../../errors.ts';
import { processIdentity } from '../../host/process.ts';
import { removeTreeSync } from '../../host/remove-tree.ts';
import { mountsOfFolder } from '../../layer/places.ts';
import { planOfFolder } from '../../plan/plan-run.ts';
import { createRecord, ownerState, readRecord, updateRecord } from '../../record/session.ts';
import { makePrivateDir } from '../../store/record.ts';
import type { Mount } from '../../types/engine.ts';
import type { AlsoFolder, Plan } from '../../types/plan.ts';
import type { SessionRecord } from '../../types/session.ts';
import { hasLayer } from '../../workspace/drop-layer.ts';
import { openWorkspace, reopenWorkspace } from '../../workspace/open.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { SessionDeps } from '../start/deps.ts';
import type { ViewParts } from '../start/stage.ts';

/** A folder besides the project, open for the agent. */
export interface BesideView {
  readonly folder: AlsoFolder;
  /** Of the folder's own session. */
  readonly plan: Plan;
  readonly workspace: Workspace;
  readonly mounts: readonly Mount[];
}

/**
 * Opens the folders of a plan besides its project. Each has a record of its own, so that a later command finds its changes
 * whatever ends this process; that of a read-only one is removed at the end. A resumed session goes on with what it left
 * in them.
 *
 * @throws {RunClaudeError} SESSION_RUNNING where another command uses such a session; otherwise as openWorkspace
 */
export async function openBeside(
  plan: Plan,
  deps: SessionDeps,
  { cleanup }: ViewParts,
): Promise<readonly BesideView[]> {
  const { engine, tell, interruption } = deps;
  const opened: BesideView[] = [];
  for (const folder of plan.also ?? []) {
    const own = planOfFolder(plan, folder);
    makePrivateDir(own.sessionDir);
    const before = readRecord(own.sessionDir);
    if (before !== undefined) requireFree(before);
    const options = { plan: own, engine, tell, signal: interruption.signal };
    const isThere = before?.workspace !== undefined && hasLayer(own.sessionDir);
    const record = before === undefined ? createRecord(own) : updateRecord(before, { owner: processIdentity() });
    const workspace = await (isThere ? reopenWorkspace(options, before.workspace) : openWorkspace(options)).catch(
      (error: unknown) => {
        updateRecord(record, { stage: isThere ? record.stage : 'failed', owner: undefined });
        throw error;
      },
    );
    cleanup.use(workspace, async (one) => {
      await one.close({ keepLayer: !folder.isReadonly });
      // Nothing comes back from it, and nothing is left of it.
      if (folder.isReadonly) removeTreeSync(own.sessionDir);
    });
    updateRecord(record, { stage: 'running', workspace: workspace.record });
    opened.push({ folder, plan: own, workspace, mounts: mountsOfFolder(workspace.mounts, folder) });
  }
  return opened;
}

function requireFree(record: SessionRecord): void {
  if (ownerState(record) === 'ended') return;
  throw new RunClaudeError('SESSION_RUNNING', `session ${record.id} is in use (process ${record.owner?.pid})`, {
    hint: 'Wait for that command, then try again.',
  });
}

/** The record of a folder's session when its agent has ended, as the record of the agent's own session says. */
export function endBeside({ plan }: BesideView, { agentStatus, stoppedBecause }: SessionRecord): SessionRecord {
  return updateRecord(besideRecord(plan), { stage: 'ended', agentStatus, stoppedBecause });
}

/** The agent never ran: there is nothing in the folders to collect. */
export function abandonBeside(views: readonly BesideView[]): void {
  for (const { plan } of views) updateRecord(besideRecord(plan), { stage: 'failed', owner: undefined });
}

function besideRecord({ sessionDir, sessionId }: Plan): SessionRecord {
  const record = readRecord(sessionDir);
  if (record === undefined) throw new RunClaudeError('RECORD_DAMAGED', `session ${sessionId} has no record`);
  return record;
}

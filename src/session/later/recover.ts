import { findCredential } from '../../agent/find-credential.ts';
import { readSnapshot } from '../../bind/snapshot.ts';
import { removeContainers } from '../../engine/remove-containers.ts';
import { RunClaudeError } from '../../errors.ts';
import { processIdentity } from '../../host/process.ts';
import { ownerState, updateRecord } from '../../record/session.ts';
import type { Plan } from '../../types/plan.ts';
import type { SessionRecord } from '../../types/session.ts';
import { dropLinks } from '../../workspace/drop-layer.ts';
import { reopenWorkspace } from '../../workspace/open.ts';
import { openAuditBase } from '../end/audit-base.ts';
import { collectBound } from '../end/bind-claude.ts';
import type { SessionDeps } from '../start/deps.ts';
import { homeRoot, openHome } from '../start/home.ts';
import { prepareImage } from '../start/prepare-image.ts';
import { askAboutAgent } from './attach-again.ts';

/**
 * Brings a session whose command was killed to the point where it can be reviewed: its containers are ended (a person
 * is asked first where the agent still runs), its layer is collected, frozen and audited. A session that is past that
 * is given back as it is. Throws RunClaudeError SESSION_RUNNING while its own command is there, SESSION_LOST when its
 * layer is gone.
 */
export async function recoverSession(record: SessionRecord, deps: SessionDeps): Promise<SessionRecord> {
  if (['pending', 'applied', 'discarded', 'failed'].includes(record.stage)) return record;
  if (ownerState(record) !== 'gone') {
    throw new RunClaudeError(
      'SESSION_RUNNING',
      `session ${record.id} is still running (process ${record.owner?.pid})`,
      {
        hint: 'See what it does with: run-claude status',
      },
    );
  }
  const { tell } = deps;
  let current = updateRecord(record, { owner: processIdentity() });
  try {
    current = await askAboutAgent(current, deps);
    // An end that was waited for is its own.
    const cutOff = current.stage === record.stage;
    const text = `Session ${record.id} was cut off. Collecting what it left...`;
    if (cutOff) tell({ kind: 'message', level: 'info', text });
    await removeContainers(deps.engine, record.id);
    const why = current.stoppedBecause ?? (cutOff ? 'run-claude was killed' : undefined);
    const recovered = await collectLeft(current, deps, why);
    await removeRest(recovered, deps);
    return updateRecord(recovered, { owner: undefined });
  } catch (error) {
    updateRecord(current, { owner: undefined });
    throw error;
  }
}

/** By how far it came: nothing ran, the project itself is put right, or the layer is frozen. */
async function collectLeft(
  record: SessionRecord,
  deps: SessionDeps,
  stoppedBecause: string | undefined,
): Promise<SessionRecord> {
  const { plan } = record;
  const { engine, tell } = deps;
  if (plan.mode === 'bind') {
    const snapshot = readSnapshot(plan.sessionDir);
    if (record.stage === 'planned' || snapshot === undefined) return updateRecord(record, { stage: 'failed' });
    await (await import('../end/end-bind.ts')).finishBind(record, snapshot, deps);
    await prepareImage(plan, deps);
    const left = await collectBound(record, await openHome(engine, plan), deps, await tokensInside(plan, deps));
    const waits = left.claude !== undefined && left.claude.items.length > 0;
    return updateRecord(left.record, { stage: waits ? 'pending' : 'applied', stoppedBecause });
  }
  if (record.workspace === undefined) {
    tell({ kind: 'message', level: 'info', text: 'Its agent had not started: there is nothing to collect.' });
    return updateRecord(record, { stage: 'failed' });
  }
  await prepareImage(plan, deps);
  const { collectSession } = await import('../end/collect.ts');
  const roots = [homeRoot(await openHome(engine, plan))];
  const workspace = await reopenWorkspace({ plan, engine, tell, roots }, record.workspace);
  try {
    const secrets = await tokensInside(plan, deps);
    const auditBase = openAuditBase(workspace, plan);
    return updateRecord(await collectSession(record, { workspace, auditBase, secrets }, deps), { stoppedBecause });
  } finally {
    await workspace.close({ keepLayer: true });
  }
}

/** With --credentials=file: what the agent had, as far as the host still has it. */
async function tokensInside(plan: Plan, { env, host }: SessionDeps): Promise<string[]> {
  if (plan.policy.credentials !== 'file') return [];
  const source = await findCredential(plan, host, env);
  const secret = await source?.current().catch(() => undefined);
  return secret === undefined ? [] : [secret.value];
}

/** What a killed command left besides. A failure is told: the session's work is safe by now. */
async function removeRest({ id, plan, stage }: SessionRecord, { engine, tell }: SessionDeps): Promise<void> {
  try {
    for (const found of await engine.list(id)) {
      if (found.kind === 'network') await engine.removeNetwork(found.name);
      // A layer may be a volume as well: it stays where an agent may have written in it.
      if (found.kind === 'volume' && (stage === 'failed' || found.name.endsWith('-gw'))) {
        await engine.removeVolume(found.name);
      }
    }
    if (stage === 'failed') dropLinks(plan.sessionDir);
    await (await openHome(engine, plan)).remove();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    tell({ kind: 'message', level: 'warning', text: `cleaning up: ${why}` });
  }
}

import { existsSync } from 'node:fs';
import { RunClaudeError } from '../../core/errors.ts';
import { removeTreeSync } from '../../core/host/files/remove-tree.ts';
import { processIdentity } from '../../core/host/processes/process.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { SessionRecord, Stage } from '../../core/types/session.ts';
import { removeContainers } from '../../engines/engine/containers/remove-containers.ts';
import { companionVolume } from '../../network/companion/companion-place.ts';
import { dropLayer, dropLinks } from '../../workspace/view/drop-layer.ts';
import { modeOf } from '../modes/modes.ts';
import { agentSession } from '../record/find/session-folders.ts';
import { ownerState, readRecord, updateRecord } from '../record/session.ts';
import { startFailureOf } from '../record/start-failure.ts';
import { openCleanupStack } from '../stage/cleanup-stack.ts';
import type { SessionDeps } from '../stage/deps.ts';
import { homeRoot, openHome } from '../stage/home/home.ts';
import { prepareImage } from '../stage/prepare-image.ts';
import { askAboutAgent } from './orphaned-agent.ts';

const COLLECTED: readonly Stage[] = ['pending', 'applied', 'discarded', 'failed'];

/**
 * Makes a session whose command was killed ready for review: ends its containers (on a terminal it asks first where the
 * agent still runs), and collects and freezes its changes. Those of a copy are not audited: auditIfMissing does that. Returns the record; a session that needs none of this
 * is returned as it is.
 *
 * @throws {RunClaudeError} SESSION_RUNNING while its own command runs, WORKSPACE_GONE when its layer no longer exists.
 */
export async function recoverSession(record: SessionRecord, deps: SessionDeps): Promise<SessionRecord> {
  if (COLLECTED.includes(record.stage)) return record;
  if (ownerState(record) !== 'ended') {
    const { id, owner } = record;
    throw new RunClaudeError('SESSION_RUNNING', `session ${id} is still running (process ${owner?.pid})`, {
      hint: 'See what it does with: run-claude status',
    });
  }
  const { tell } = deps;
  const byAgent = await recoverAgentOf(record, deps);
  if (byAgent !== undefined) return byAgent;
  let current = updateRecord(record, { owner: processIdentity() });
  try {
    current = await askAboutAgent(current, deps);
    // Attached, the agent ran to its own end.
    const isCutOff = current.stage === record.stage;
    const text = `Session ${record.id} was cut off. Collecting its changes...`;
    if (isCutOff) tell({ kind: 'message', level: 'info', text });
    await removeContainers(deps.engine, record.id);
    const why = current.stoppedBecause ?? (isCutOff ? 'run-claude was killed' : undefined);
    const recovered = await collectRemains(current, deps, why);
    await removeRest(recovered, deps);
    return updateRecord(recovered, { owner: undefined });
  } catch (error) {
    // No later command finds more.
    const isGone = error instanceof RunClaudeError && error.code === 'JOB_UNSAVED';
    updateRecord(current, { owner: undefined, ...(isGone && { stage: 'failed', failure: startFailureOf(error) }) });
    throw error;
  }
}

/**
 * Recovers the session whose agent worked in this folder, which collects the folder too: until then the agent may
 * still write. Returns the record afterwards; undefined where the folder is still to be collected.
 */
async function recoverAgentOf(record: SessionRecord, deps: SessionDeps): Promise<SessionRecord | undefined> {
  const { besideSession, sessionDir } = record.plan;
  if (besideSession === undefined) return undefined;
  const agents = agentSession(record);
  if (agents !== record) await recoverSession(agents, deps);
  await removeContainers(deps.engine, besideSession);
  const isReadonly = (agents.plan.also ?? []).some((one) => one.sessionId === record.id && one.isReadonly);
  if (isReadonly && existsSync(sessionDir)) {
    await dropLayer(record.plan, deps.engine);
    removeTreeSync(sessionDir);
  }
  const now = readRecord(sessionDir);
  // Nothing is left of a folder that could only be read.
  if (now === undefined) return { ...record, stage: 'discarded' };
  return COLLECTED.includes(now.stage) ? now : undefined;
}

/** Collects what the agent left, by the session's own mode; a session whose agent never ran has failed. */
async function collectRemains(
  record: SessionRecord,
  deps: SessionDeps,
  stoppedBecause: string | undefined,
): Promise<SessionRecord> {
  const { plan } = record;
  const { engine, tell } = deps;
  const cleanup = openCleanupStack(tell);
  try {
    // Where the project itself has to be restored, that comes before the image and the home.
    const roots = async () => {
      await prepareImage(plan, deps);
      return [homeRoot(await openHome(engine, plan))];
    };
    const isStarted = record.stage !== 'planned';
    const view = isStarted ? await (await modeOf(plan)).reopen(record, plan, deps, { roots, cleanup }) : undefined;
    if (view === undefined) {
      tell({ kind: 'message', level: 'info', text: 'Its agent had not started: there is nothing to collect.' });
      const failure = {
        code: 'START_INTERRUPTED',
        message: stoppedBecause ?? 'run-claude ended before its agent started',
      };
      return updateRecord(record, { stage: 'failed', failure });
    }
    const collected = await view.collect(record, () => tokensInside(plan, deps), { isAudited: false });
    for (const folder of collected.beside ?? []) updateRecord(folder.record, { stoppedBecause, owner: undefined });
    return updateRecord(collected.record, { stoppedBecause });
  } finally {
    await cleanup.close();
  }
}

/** With --credentials=file: the token that the agent had, as far as the host still has it. */
async function tokensInside(plan: Plan, { findCredential }: SessionDeps): Promise<string[]> {
  if (plan.policy.credentials !== 'file') return [];
  const source = await findCredential(plan);
  const secret = await source?.current().catch(() => undefined);
  return secret === undefined ? [] : [secret.value];
}

/** The gateway's volume, and those of its companions. */
const isOfSockets = (volume: string, id: string): boolean =>
  volume.endsWith('-gw') || volume.startsWith(companionVolume(id, ''));

/** Removes what else a killed command left. A failure is a warning only: the session's changes are collected by then. */
async function removeRest({ id, plan, stage }: SessionRecord, { engine, tell }: SessionDeps): Promise<void> {
  try {
    for (const found of await engine.list(id)) {
      if (found.kind === 'network') await engine.networks?.remove(found.name);
      // A layer can be a volume too: it is kept where an agent may have written to it.
      if (found.kind === 'volume' && (stage === 'failed' || isOfSockets(found.name, id))) {
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

import { findCredential } from '../claude/credentials.ts';
import { RunClaudeError } from '../errors.ts';
import { processIdentity } from '../store/process.ts';
import type { Plan } from '../types/plan.ts';
import type { SessionRecord } from '../types/session.ts';
import { reopenWorkspace } from '../workspace/open.ts';
import { collectSession } from './collect.ts';
import type { SessionDeps } from './deps.ts';
import { homeRoot, openHome } from './home.ts';
import { prepareImage } from './prepare-image.ts';
import { ownerState, updateRecord } from './record.ts';

/** Whether a session was left behind by a command that is gone, with work that nobody has collected yet. */
export function needsRecovery(record: SessionRecord): boolean {
  return ['planned', 'staged', 'running', 'ended', 'collected'].includes(record.stage) && ownerState(record) === 'gone';
}

/**
 * Brings a session whose command was killed to the point where it can be reviewed: its containers are ended, its layer
 * is collected, frozen and audited. A session that is past that is given back as it is. Throws RunClaudeError
 * SESSION_RUNNING while its own command is there, SESSION_LOST when its layer is gone.
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
  const { engine, tell } = deps;
  tell({ kind: 'message', level: 'info', text: `Session ${record.id} was cut off. Collecting what it left...` });
  let current = updateRecord(record, { owner: processIdentity() });
  try {
    await removeContainers(record.id, deps);
    if (current.workspace === undefined) return updateRecord(current, { stage: 'failed', owner: undefined });
    await prepareImage(current.plan, deps);
    const home = await openHome(engine, current.plan);
    const roots = [homeRoot(home)];
    const workspace = await reopenWorkspace({ plan: current.plan, engine, tell, roots }, current.workspace);
    try {
      current = await collectSession(current, workspace, deps, await tokensInside(current.plan, deps));
    } finally {
      await workspace.close({ keepLayer: true });
    }
    await home.remove();
    return updateRecord(current, {
      owner: undefined,
      stoppedBecause: current.stoppedBecause ?? 'run-claude was killed',
    });
  } catch (error) {
    updateRecord(current, { owner: undefined });
    throw error;
  }
}

/** Ends and removes every container of a session; its volumes stay. */
export async function removeContainers(sessionId: string, deps: SessionDeps): Promise<void> {
  for (const found of await deps.engine.list(sessionId)) {
    if (found.kind !== 'container') continue;
    const container = await deps.engine.find(found.name);
    await container?.remove();
  }
}

/** With --credentials=file: what the agent had, as far as the host still has it. */
async function tokensInside({ policy }: Plan, { env, host }: SessionDeps): Promise<string[]> {
  if (policy.credentials !== 'file') return [];
  const source = await findCredential({ env, home: host.home, platform: host.platform });
  const secret = await source?.current().catch(() => undefined);
  return secret === undefined ? [] : [secret.value];
}

import { maskPlan } from '../plan/mask-plan.ts';
import { processIdentity } from '../store/process.ts';
import type { Plan } from '../types/plan.ts';
import type { SessionRecord } from '../types/session.ts';
import { openWorkspace, reopenWorkspace } from '../workspace/open.ts';
import type { Workspace, WorkspaceOptions } from '../workspace/workspace.ts';
import { openAuditBase, warmUpAudit } from './audit-base.ts';
import { bringClaudeBack } from './claude-data.ts';
import type { SessionDeps } from './deps.ts';
import { launchWithCredential } from './launch.ts';
import { dropLayerIfOver } from './layer-life.ts';
import { createRecord, releaseRecord, updateRecord } from './record.ts';
import { openScope } from './scope.ts';
import { startAgent } from './start-agent.ts';

/**
 * The life of a session in copy mode: stage, launch, collect, audit, review, apply, clean up. The record says at each
 * step how far it came, so that whatever ends us, a later command goes on from there. Gives the exit status.
 */
export async function runSession(plan: Plan, deps: SessionDeps): Promise<number> {
  return carryThrough(createRecord(plan), plan, deps, openWorkspace);
}

/**
 * The agent again, on the layer that its session left. What was applied meanwhile is alike on both sides and asks for
 * nothing. Preconditions: the session has ended and its layer is there. Gives the exit status.
 */
export async function resumeSession(ended: SessionRecord, plan: Plan, deps: SessionDeps): Promise<number> {
  // Its conversation lies in the session's store: the agent can go on with what the project's own data has.
  if (plan.program.kind === 'claude') await bringClaudeBack(ended, [], deps);
  const record = updateRecord(ended, { plan: maskPlan(plan), owner: processIdentity() });
  return carryThrough(record, plan, deps, (options) => reopenWorkspace(options, ended.workspace));
}

type OpenWorkspace = (options: WorkspaceOptions) => Promise<Workspace>;

async function carryThrough(
  begun: SessionRecord,
  plan: Plan,
  deps: SessionDeps,
  openIt: OpenWorkspace,
): Promise<number> {
  let record = begun;
  const scope = openScope(deps.tell);
  try {
    const { staged, agent } = await startAgent(plan, deps, scope, async (roots, beside) => {
      const { engine, tell, interruption, ahead } = deps;
      const opened = await openIt({ plan, engine, tell, signal: interruption.signal, ahead, roots });
      return beside.use(opened, (opening) => opening.close({ keepLayer: true }));
    });
    record = updateRecord(record, { stage: 'running', workspace: staged.workspace.record });
    const { workspace } = staged;
    const auditBase = openAuditBase(workspace, plan);
    let over = false;
    // What follows its end needs all three; the first is most of the program.
    const meanwhile = () => Promise.all([import('./gate.ts'), workspace.wake(), warmUpAudit(auditBase, () => over)]);
    const ended = await launchWithCredential(agent, workspace, plan, deps, { ...staged, meanwhile });
    over = true;
    staged.gateway.quit();
    await agent.remove();
    if (ended.neverRan !== undefined) {
      record = updateRecord(record, { stage: 'failed' });
      throw ended.neverRan;
    }
    record = updateRecord(record, {
      stage: 'ended',
      agentStatus: ended.status,
      stoppedBecause: ended.stopped,
      usage: staged.gateway?.usage(),
    });
    const { collectSession, settle } = await import('./gate.ts');
    const secrets = staged.credential?.inside() ?? [];
    record = await collectSession(record, { workspace, auditBase, secrets }, deps);
    await scope.close();
    const status = await settle(record, ended, deps);
    await dropLayerIfOver(plan, deps);
    return status;
  } catch (error) {
    if (record.stage === 'planned') record = updateRecord(record, { stage: 'failed' });
    throw error;
  } finally {
    await scope.close();
    releaseRecord(plan.sessionDir);
  }
}

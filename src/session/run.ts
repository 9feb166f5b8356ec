import { agentOf } from '../agent/agents.ts';
import { processIdentity } from '../host/process.ts';
import type { WorkspaceOptions } from '../layer/layer.ts';
import { maskPlan } from '../plan/mask-plan.ts';
import { createRecord, releaseRecord, updateRecord } from '../record/session.ts';
import type { Plan } from '../types/plan.ts';
import type { SessionRecord } from '../types/session.ts';
import { hasLayer } from '../workspace/drop-layer.ts';
import { openWorkspace, reopenWorkspace } from '../workspace/open.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { dropLayerIfOver } from './end/layer-life.ts';
import type { SessionDeps } from './start/deps.ts';
import { launchWithCredential } from './start/launch.ts';
import { prepareImage } from './start/prepare-image.ts';
import { openScope } from './start/scope.ts';
import { startAgent } from './start/start-agent.ts';

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
  await prepareImage(plan, deps);
  // Its conversation lies in the session's store: the agent can go on with what the project's own data has.
  if (agentOf(plan.program) !== undefined) {
    const { bringClaudeBack } = await import('./end/claude-data.ts');
    await bringClaudeBack(ended, [], deps);
  }
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
    let over = false;
    const gate = gateOf(workspace, plan);
    const warmUp = async () => {
      const { auditBase, readyToAsk, warmUpAudit } = await gate();
      if (plan.tty) await readyToAsk();
      await warmUpAudit(auditBase, () => over);
    };
    const meanwhile = () => Promise.all([workspace.wake(), warmUp()]);
    const ended = await launchWithCredential(agent, plan, deps, { ...staged, disk: workspace, meanwhile });
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
      usage: staged.gateway.usage(),
    });
    const { auditBase, collectSession, settle } = await gate();
    const secrets = staged.credential?.inside() ?? [];
    record = await collectSession(record, { workspace, auditBase, secrets }, deps);
    await scope.close();
    const status = await settle(record, ended, deps);
    await dropLayerIfOver(plan, deps);
    // Claude names its own command at its end, which does not find a conversation that was held in a copy.
    if (agentOf(plan.program) !== undefined && hasLayer(plan.sessionDir)) {
      deps.tell({
        kind: 'message',
        level: 'info',
        text: `To continue this session: run-claude resume ${plan.sessionId}`,
      });
    }
    return status;
  } catch (error) {
    if (record.stage === 'planned') record = updateRecord(record, { stage: 'failed' });
    throw error;
  } finally {
    await scope.close();
    releaseRecord(plan.sessionDir);
  }
}

/** What follows an agent's end, with what the audit reads of the base: loaded when it is first asked for. */
function gateOf(workspace: Workspace, plan: Plan) {
  const load = async () => {
    const { collectSession, openAuditBase, readyToAsk, settle, warmUpAudit } = await import('./end/gate.ts');
    return { auditBase: openAuditBase(workspace, plan), collectSession, readyToAsk, settle, warmUpAudit };
  };
  let loaded: ReturnType<typeof load> | undefined;
  return () => (loaded ??= load());
}

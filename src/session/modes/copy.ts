import { homeAgent } from '../../agent/agents.ts';
import type { WorkspaceOptions } from '../../layer/layer.ts';
import type { Plan } from '../../types/plan.ts';
import { openWorkspace, reopenWorkspace } from '../../workspace/open.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { SessionDeps } from '../start/deps.ts';
import type { ViewParts } from '../start/stage.ts';
import type { SessionMode, SessionView } from './mode.ts';

/** Copy mode: the agent works on a layer over a copy of the project; what it changed is applied after a yes. */
export const copyMode: SessionMode = {
  open: (plan, deps, parts) => openView(plan, deps, parts, openWorkspace),

  async reopen({ workspace }, plan, deps, parts) {
    if (workspace === undefined) return undefined;
    return openView(plan, deps, parts, (options) => reopenWorkspace(options, workspace));
  },

  async decide({ record, review, heldBack }, { stopReason }, deps) {
    const { decideSession } = await loadEnd();
    const reviewed = await review();
    const choice = await decideSession(record, reviewed.review, deps, stopReason !== undefined);
    return { ...reviewed, record, heldBack, choice };
  },

  async apply(decided, deps) {
    const { choice, record } = decided;
    if (choice.discard || !choice.decided) return decided;
    const { applySession } = await loadEnd();
    const { autoApply, yes } = record.plan.policy;
    const applied = await applySession(record, choice, deps, { conflict: 'ask', dryRun: false, yes: autoApply || yes });
    return { ...decided, ...applied };
  },

  async end(decided, agent, deps) {
    const { endSession } = await loadEnd();
    return endSession({ ...decided, agent, isAsked: !decided.record.plan.policy.autoApply }, deps);
  },
};

/** The stages after the agent's end, loaded while the agent runs: no start waits for them. */
function loadEnd(): Promise<typeof import('../end/after-agent.ts')> {
  return import('../end/after-agent.ts');
}

async function openView(
  plan: Plan,
  deps: SessionDeps,
  { roots, cleanup }: ViewParts,
  openOrReopen: (options: WorkspaceOptions) => Promise<Workspace>,
): Promise<SessionView> {
  const { engine, tell, interruption, prescan } = deps;
  const { signal } = interruption;
  const workspace = await openOrReopen({ plan, engine, tell, signal, prescan, roots: await roots() });
  cleanup.use(workspace, (opened) => opened.close({ keepLayer: true }));
  return viewOf(workspace, plan, deps, cleanup);
}

function viewOf(workspace: Workspace, plan: Plan, deps: SessionDeps, cleanup: ViewParts['cleanup']): SessionView {
  const isCollecting = new AbortController();
  let audit: ReturnType<typeof openAudit> | undefined;
  const openAudit = async () => {
    const end = await loadEnd();
    const judge = end.openSessionJudge(plan, workspace.record);
    cleanup.use(judge, async (opened) => opened[Symbol.dispose]());
    return { ...end, judge };
  };
  /** The audit of this view; its process starts when it is first asked for. */
  const auditOnce = () => (audit ??= openAudit());
  const warmUp = async (): Promise<void> => {
    const { judge, readyToAsk, startJudge, warmUpAudit } = await auditOnce();
    await startJudge(judge);
    await homeAgent(plan.program).loadData();
    if (plan.tty) await readyToAsk();
    await warmUpAudit(judge, isCollecting.signal);
  };
  return {
    mounts: workspace.mounts,
    recorded: { workspace: workspace.record },
    disk: workspace,
    whileRunning: () => Promise.all([workspace.wake(), warmUp()]),
    async collect(record, secrets, { isAudited }) {
      isCollecting.abort();
      const { judge, collectSession, reviewRemaining } = await auditOnce();
      // A signal that stopped the agent is over: its changes are collected. The next one stops the collection.
      const signal = deps.interruption.next();
      const interrupt = (): void => workspace.interrupt(signal.reason as Error);
      signal.addEventListener('abort', interrupt, { once: true });
      const input = { workspace, judge: isAudited ? judge : undefined, secrets: await secrets(), signal };
      const collected = await collectSession(record, input, deps)
        .catch((error: unknown) => {
          const text = `The changes of the session are kept. To go on collecting them: run-claude diff ${plan.sessionId}`;
          if (signal.aborted) deps.tell({ kind: 'message', level: 'info', text });
          throw error;
        })
        // It is not needed for the user's decision.
        .finally(() => judge[Symbol.dispose]());
      // A session that was resumed may have been applied in part before.
      return { record: collected, heldBack: 0, review: () => reviewRemaining(collected, deps) };
    },
  };
}

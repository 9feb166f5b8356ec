import { homeAgent } from '../../agents/agents.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { WorkspaceOptions } from '../../workspace/layer/layer.ts';
import { openWorkspace, reopenWorkspace } from '../../workspace/view/open.ts';
import type { Workspace } from '../../workspace/view/workspace.ts';
import type { AgentEnd } from '../launch/agent-run.ts';
import { sharedStatus } from '../record/exit-status.ts';
import { rememberSecrets } from '../record/secrets/decoys.ts';
import { releaseRecord } from '../record/session.ts';
import type { SessionDeps, UserDeps } from '../stage/deps.ts';
import type { ViewParts } from '../stage/stage.ts';
import type { CollectedSession, DecidedSession, SessionMode, SessionView } from './mode.ts';

/** Copy mode: the agent works on a layer over a copy of the project; what it changed is applied after a yes. */
export const copyMode: SessionMode = {
  open: (plan, deps, parts) => openView(plan, deps, parts, openWorkspace),

  async reopen({ workspace }, plan, deps, parts) {
    if (workspace === undefined) return undefined;
    return openView(plan, deps, parts, (options) => reopenWorkspace(options, workspace));
  },

  async decide(collected, agent, deps) {
    const decided = await decideOne(collected, agent, deps);
    const beside: DecidedSession[] = [];
    for (const one of collected.beside ?? []) {
      deps.tell({ kind: 'message', level: 'info', text: `The folder ${one.record.project}:` });
      beside.push(await decideOne(one, agent, deps));
    }
    return { ...decided, beside };
  },

  async apply(decided, deps) {
    const applied = await applyOne(decided, deps);
    const beside: DecidedSession[] = [];
    // The outcome of the project, and of the others, is reported also where one fails.
    for (const one of decided.beside ?? [])
      beside.push(await applyOne(one, deps).catch((failure: unknown) => ({ ...one, failure })));
    return { ...applied, beside };
  },

  async end({ beside = [], ...decided }, agent, deps) {
    const { endSession, openFiles } = await loadEnd();
    const end = (one: DecidedSession, to: UserDeps): Promise<number> =>
      endSession({ ...one, target: openFiles(one.record, to), agent, isAsked: !one.record.plan.policy.autoApply }, to);
    const statuses = [await end(decided, deps)];
    // The report that was asked for is the project's.
    const { report: _, ...withoutReport } = deps;
    for (const one of beside) {
      deps.tell({ kind: 'message', level: 'info', text: `The folder ${one.record.project}:` });
      statuses.push(await end(one, withoutReport));
      releaseRecord(one.record.plan.sessionDir);
    }
    for (const { failure } of beside) if (failure !== undefined) throw failure;
    return sharedStatus(statuses);
  },
};

async function decideOne(
  { record, review, heldBack }: CollectedSession,
  { stopReason }: AgentEnd,
  deps: UserDeps,
): Promise<DecidedSession> {
  const { decideSession } = await loadEnd();
  const isStopped = stopReason !== undefined;
  const decided = await decideSession(
    { record, reviewed: await review(), again: review, isEnd: true, isStopped },
    deps,
  );
  return { ...decided, record, heldBack };
}

async function applyOne(decided: DecidedSession, deps: UserDeps): Promise<DecidedSession> {
  const { choice, record } = decided;
  if (choice.discard || !choice.decided) return decided;
  const { applyChoice, openFiles } = await loadEnd();
  const { autoApply, yes } = record.plan.policy;
  const options = { conflict: 'ask', dryRun: false, yes: autoApply || yes } as const;
  return { ...decided, ...(await applyChoice({ ...decided, target: openFiles(record, deps) }, deps, options)) };
}

/** The stages after the agent's end, loaded while the agent runs: no start waits for them. */
function loadEnd(): Promise<typeof import('../outcome/after-agent.ts')> {
  return import('../outcome/after-agent.ts');
}

async function openView(
  plan: Plan,
  deps: SessionDeps,
  parts: ViewParts,
  openOrReopen: (options: WorkspaceOptions) => Promise<Workspace>,
): Promise<SessionView> {
  const { engine, tell, interruption, prescan } = deps;
  const { signal } = interruption;
  const { roots, cleanup } = parts;
  const workspace = await openOrReopen({ plan, engine, tell, signal, prescan, roots: await roots() });
  cleanup.use(workspace, (opened) => opened.close({ keepLayer: true }));
  rememberSecrets(plan.sessionDir, workspace);
  const own = viewOf(workspace, plan, deps, cleanup);
  if (plan.also === undefined) return own;
  const { endExtraFolders, openExtraFolders } = await import('./open-extra-folders.ts');
  const beside = await openExtraFolders(plan, deps, parts);
  const writable = beside.filter(({ folder }) => !folder.isReadonly);
  const views = writable.map((one) => ({ one, view: viewOf(one.workspace, one.plan, deps, cleanup) }));
  const others = writable.map((one) => one.workspace);
  return {
    ...own,
    mounts: [...own.mounts, ...beside.flatMap(({ mounts }) => mounts)],
    disk: {
      isOnThisMachine: workspace.isOnThisMachine,
      watchDisk: (hooks) => workspace.watchDisk(hooks, others),
      watchChanges: () => workspace.watchChanges(),
    },
    whileRunning: () => Promise.all([own.whileRunning?.(), ...others.map((other) => other.wake())]),
    async collect(record, secrets, options) {
      // All of them first: none of what follows is the agent's to wait for.
      const ended = views.map(({ one, view }) => ({ view, record: endExtraFolders(one, record) }));
      const collected = await own.collect(record, secrets, options);
      const rest: CollectedSession[] = [];
      // Credentials are in the agent's home, which the project's own session reads.
      for (const one of ended) rest.push(await one.view.collect(one.record, async () => [], options));
      return { ...collected, beside: rest };
    },
  };
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
      const { judge, collectSession, openFiles, reviewRemaining } = await auditOnce();
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
      return {
        record: collected,
        heldBack: 0,
        review: () => reviewRemaining(openFiles(collected, deps), collected, deps),
      };
    },
  };
}

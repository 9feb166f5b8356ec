import { agentOf } from '../agents/agents.ts';
import { processIdentity } from '../core/host/processes/process.ts';
import type { Container } from '../core/types/engine.ts';
import type { Plan } from '../core/types/plan.ts';
import type { SessionRecord } from '../core/types/session.ts';
import { hasLayer } from '../workspace/view/drop-layer.ts';
import { failStart } from './end/fail-start.ts';
import { dropUnneededLayer } from './end/layer-retention.ts';
import { tellNextPending } from './end/next-pending.ts';
import { sessionFacts } from './end/report/session-facts.ts';
import type { AgentEnd } from './launch/agent-run.ts';
import { launchWithCredential } from './launch/launch.ts';
import type { CollectedSession, SessionMode, SessionView } from './modes/mode.ts';
import { modeOf } from './modes/modes.ts';
import { callerFor } from './notify/notify.ts';
import { askedTests } from './plan/asked-tests.ts';
import { maskPlan } from './plan/mask-plan.ts';
import { planOfFolder } from './plan/plan-run.ts';
import { createRecord, readRecord, releaseRecord, updateRecord } from './record/session.ts';
import { openCleanupStack } from './stage/cleanup-stack.ts';
import { createAgent } from './stage/create-agent.ts';
import type { SessionDeps } from './stage/deps.ts';
import { prepareImage } from './stage/prepare-image.ts';
import type { OpenView, Staged } from './stage/stage.ts';

/** Runs a session of the plan from its start to its end. Precondition: the plan's image exists. Returns the exit status. */
export async function runSession(plan: Plan, deps: SessionDeps): Promise<number> {
  const mode = await modeOf(plan);
  return runStages(createRecord(plan), plan, mode, deps, (parts) => mode.open(plan, deps, parts));
}

/**
 * Runs the agent again, on the layer that its session left. Changes that were applied since then are the same on both
 * sides and need no answer. Preconditions: the session has ended and its layer exists. Returns the exit status.
 */
export async function resumeSession(ended: SessionRecord, plan: Plan, deps: SessionDeps): Promise<number> {
  await prepareImage(plan, deps);
  // Its conversation is in the session's store: the agent can continue it from the project's own data.
  if (agentOf(plan.program) !== undefined) {
    const { bringClaudeBack } = await import('./end/claude-data.ts');
    await bringClaudeBack(ended, [], deps);
  }
  const mode = await modeOf(plan);
  const record = updateRecord(ended, { plan: maskPlan(plan), owner: processIdentity() });
  return runStages(record, plan, mode, deps, async (parts) => {
    const view = await mode.reopen(ended, plan, deps, parts);
    if (view === undefined) throw new Error('a session that never ran cannot be resumed');
    return view;
  });
}

/**
 * The stages of a session after its plan, in any mode. The record says at each step how far the session came: whatever
 * ends this process, a later command continues from there. Returns the exit status.
 */
async function runStages(
  planned: SessionRecord,
  plan: Plan,
  mode: SessionMode,
  deps: SessionDeps,
  openView: OpenView<SessionView>,
): Promise<number> {
  let record = planned;
  const isFirst = planned.stage === 'planned';
  const call = callerFor(plan, { isAway: deps.away !== undefined, isAttended: deps.screen !== undefined });
  const tellStage = (): void => deps.tell({ kind: 'stage', session: record.id, stage: record.stage });
  tellStage();
  const cleanup = openCleanupStack(deps.tell);
  try {
    const { staged, agent } = await createAgent(plan, deps, cleanup, openView);
    record = updateRecord(record, { stage: 'running', failure: undefined, ...staged.view.recorded });
    tellStage();
    const launched = await launchStaged(agent, plan, { ...deps, call }, staged);
    if (launched.kind === 'start-failed') {
      // A session that ran before still has what it left.
      record = isFirst ? await failStart(record, launched.error, deps) : updateRecord(record, { stage: planned.stage });
      throw launched.error;
    }
    record = updateRecord(record, endOf(launched, staged));
    tellStage();
    tellOwnCommand(plan, deps);
    const collected = await staged.view.collect(record, async () => staged.credential?.inside() ?? [], {
      isAudited: true,
    });
    record = collected.record;
    await cleanup.close();
    const tested = await testResult(collected, plan, deps);
    record = tested.record;
    if (deps.away === undefined) call({ kind: 'question', verdict: 'review' });
    const decided = await mode.decide(tested, launched, { ...deps, withEngine: (_, use) => use(deps) });
    const applied = await mode.apply(decided, deps);
    const status = await mode.end(applied, launched, deps);
    const folders = (plan.also ?? []).map((folder) => planOfFolder(plan, folder));
    for (const one of [plan, ...folders]) await dropUnneededLayer(one, deps);
    tellResume(plan, deps);
    if (decided.choice.decided) tellNextPending(record, deps);
    if (launched.failure !== undefined) throw launched.failure;
    call({ kind: 'end', verdict: stateOf(plan) });
    return status;
  } catch (error) {
    call({ kind: 'end', verdict: 'failed' });
    if (record.stage === 'planned') await failStart(record, error, deps);
    else if (record.stage === 'running' || record.stage === 'ended') tellUncollected(mode, record, deps);
    throw error;
  } finally {
    await cleanup.close();
    releaseRecord(plan.sessionDir);
  }
}

/** Runs the user's tests on what the agent left. Their verdicts are on record before anything is decided. */
async function testResult(collected: CollectedSession, plan: Plan, deps: SessionDeps): Promise<CollectedSession> {
  const isAsked = askedTests(plan.policy).length > 0 && collected.record.workspace !== undefined;
  const { runTests } = isAsked ? await import('./tests/run-tests.ts') : { runTests: undefined };
  const tests = await runTests?.(collected.record, plan, deps);
  if (tests === undefined && collected.record.tests === undefined) return collected;
  const note = (one: CollectedSession): CollectedSession => ({ ...one, record: updateRecord(one.record, { tests }) });
  return { ...note(collected), beside: collected.beside?.map(note) };
}

/** As `sessions --json` has it. */
function stateOf({ sessionDir }: Plan): string {
  const record = readRecord(sessionDir);
  return record === undefined ? 'ended' : sessionFacts(record).state.replaceAll(' ', '-');
}

/** Runs the agent to its end, and removes its container. */
async function launchStaged(
  agent: Container,
  plan: Plan,
  deps: SessionDeps,
  { view, gateway, credential }: Staged<SessionView>,
): ReturnType<typeof launchWithCredential> {
  const { disk, guard } = view;
  const whileRunning = (): Promise<unknown> => Promise.all([view.whileRunning?.(), deps.door?.open()]);
  let launched: Awaited<ReturnType<typeof launchWithCredential>>;
  try {
    launched = await launchWithCredential(agent, plan, deps, { gateway, credential, disk, whileRunning, guard });
  } finally {
    // An open door would keep this process.
    await deps.door?.close();
  }
  gateway.quit();
  await agent.remove();
  return launched;
}

function endOf({ status, stopReason }: AgentEnd, { gateway }: Staged<SessionView>) {
  return { stage: 'ended', agentStatus: status, stoppedBecause: stopReason, usage: gateway.usage() } as const;
}

function tellUncollected(mode: SessionMode, record: SessionRecord, { tell }: SessionDeps): void {
  const text = mode.uncollectedWarning?.(record);
  if (text !== undefined) tell({ kind: 'message', level: 'error', text });
}

/**
 * Right below the last screen of an agent, which may name its own command: on the host that one finds no conversation
 * held in a copy.
 */
function tellOwnCommand({ program, tty, mode, sessionId }: Plan, { tell }: SessionDeps): void {
  const agent = agentOf(program);
  if (agent === undefined || !tty || mode !== 'copy') return;
  const text = `To go on in this session: run-claude resume ${sessionId}. A command of ${agent.title}'s own works only inside.`;
  tell({ kind: 'message', level: 'info', text });
}

/** The command again below the review, where the session can still be resumed. */
function tellResume({ program, sessionDir, sessionId }: Plan, { tell }: SessionDeps): void {
  if (agentOf(program) === undefined || !hasLayer(sessionDir)) return;
  tell({ kind: 'message', level: 'info', text: `To continue this session: run-claude resume ${sessionId}` });
}

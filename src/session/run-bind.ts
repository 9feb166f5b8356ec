import { isWatchedPath } from '../audit/files.ts';
import { type BindOutcome, openBind } from '../bind/session.ts';
import type { BindSnapshot } from '../bind/snapshot.ts';
import { exitStatus } from '../record/exit-status.ts';
import { createRecord, listSessions, ownerState, releaseRecord, updateRecord } from '../record/session.ts';
import { buildReview } from '../review/build-review.ts';
import { outcomeCounts } from '../review/policy.ts';
import type { Plan } from '../types/plan.ts';
import type { Review } from '../types/review.ts';
import type { SessionRecord } from '../types/session.ts';
import { collectBound, settleBoundHome } from './end/bind-claude.ts';
import { claudeHeldBack } from './end/claude-data.ts';
import { finishBind } from './end/end-bind.ts';
import { dropLayerIfOver } from './end/layer-life.ts';
import { reaches, sessionReport, writeOwnReport } from './end/write-report.ts';
import type { SessionDeps } from './start/deps.ts';
import { type AgentEnd, launchWithCredential } from './start/launch.ts';
import { openScope } from './start/scope.ts';
import { startAgent } from './start/start-agent.ts';

/**
 * A session on the person's own files: `.git` is shielded, what runs by itself is put right at the end. Whatever goes
 * wrong once the agent may have run, the project is put right before this ends, or by the next command.
 */
export async function runBind(plan: Plan, deps: SessionDeps): Promise<number> {
  warnOfOthers(plan, deps);
  let record = createRecord(plan);
  const scope = openScope(deps.tell);
  const { tell } = deps;
  try {
    const open = () => openBind({ plan, tell, watched: isWatched });
    const { staged, agent } = await startAgent(plan, deps, scope, open);
    record = updateRecord(record, { stage: 'running', bound: staged.workspace.bound });
    let ended: AgentEnd;
    try {
      ended = await launchWithCredential(agent, plan, deps, staged);
    } finally {
      await agent.remove();
    }
    if (ended.neverRan !== undefined) {
      record = updateRecord(record, { stage: 'failed' });
      throw ended.neverRan;
    }
    record = updateRecord(record, { stage: 'ended', agentStatus: ended.status, stoppedBecause: ended.stopped });
    const outcome = await finishBind(record, staged.workspace.snapshot, deps);
    const left = await collectBound(record, staged.home, deps, staged.credential?.inside() ?? []);
    const { claude } = left;
    record = left.record;
    const interruptedBy = deps.interruption.by();
    const review = { ...reviewOf(plan, staged.workspace.snapshot, outcome), ...(claude && { claude }) };
    const back = await settleBoundHome(record, review, deps);
    const counts = outcomeCounts({ changes: [], claude: back, at: '' });
    record = updateRecord(record, {
      stage: counts.waiting > 0 ? 'pending' : 'applied',
      outcome: { changes: [], claude: back, at: new Date().toISOString() },
    });
    if (record.bound?.commits === true) {
      tell({
        kind: 'message',
        level: 'info',
        text: `Commits were made inside: run-claude commits ${record.id} --import`,
      });
    }
    await dropLayerIfOver(plan, deps);
    const status = exitStatus({
      ...(interruptedBy === undefined ? {} : { interruptedBy }),
      limited: ended.stopped !== undefined && interruptedBy === undefined,
      conflicts: counts.conflicts,
      decided: true,
      heldBack: outcome.heldBack + counts.heldBack + claudeHeldBack(review),
      failOn: reaches(plan.policy.failOn, review),
      waiting: 0,
      agent: ended.status,
    });
    const report = sessionReport({ record, review, choice: { decided: true, discard: false }, exitStatus: status });
    writeOwnReport(report, plan.sessionDir);
    deps.report?.write(report);
    return status;
  } catch (error) {
    if (record.stage === 'planned') record = updateRecord(record, { stage: 'failed' });
    else if (record.stage !== 'failed') tell({ kind: 'message', level: 'error', text: notPutRight(record) });
    throw error;
  } finally {
    await scope.close();
    releaseRecord(plan.sessionDir);
  }
}

/** For the report, in the form that a copy's changes have. */
function reviewOf(plan: Plan, before: BindSnapshot, outcome: BindOutcome): Review {
  return buildReview({
    collected: { changes: outcome.changes, problems: [], withheld: outcome.ignored, baseEntries: before.entries.size },
    findings: outcome.findings,
    allowSuspect: plan.policy.allowSuspect,
    includeIgnored: true,
  });
}

/** Content worth keeping: what the audit looks into, and the ignore rules. */
function isWatched(path: string): boolean {
  return isWatchedPath(path) || /(^|\/)\.gitignore$/.test(path);
}

function notPutRight({ id, project }: SessionRecord): string {
  return `What the agent left was not looked at: run no git in ${project} before 'run-claude status ${id}' has done so.`;
}

/** Two agents on the same files see, and undo, each other's work. */
function warnOfOthers(plan: Plan, { host, tell }: SessionDeps): void {
  const { sessions } = listSessions(host.stateDir);
  const others = sessions.filter(
    (one) => one.project === plan.project.root && one.plan.mode === 'bind' && one.owner && ownerState(one) !== 'gone',
  );
  for (const { id } of others) {
    tell({ kind: 'message', level: 'warning', text: `session ${id} works on these same files right now` });
  }
}

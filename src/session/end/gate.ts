import type { SessionRecord } from '../../types/session.ts';
import type { SessionDeps } from '../start/deps.ts';
import type { AgentEnd } from '../start/launch.ts';
import { applySession } from './apply-session.ts';
import { endSession, type SessionEnd } from './end-session.ts';
import { reviewLeft } from './left-changes.ts';
import { decideSession } from './review-session.ts';

// What follows an agent's end. It is most of the program, and is loaded while the agent runs: no start waits for it.

export { readyToAsk } from '../../terminal/ask.ts';
export { openAuditBase, warmUpAudit } from './audit-base.ts';
export { collectSession } from './collect.ts';

/** The question, its answer carried out, and what the person is told at the end. */
export async function settle(record: SessionRecord, ended: AgentEnd, deps: SessionDeps): Promise<number> {
  // A session that was resumed may have been applied in part before.
  const { review, whole } = await reviewLeft(record, deps);
  const choice = await decideSession(record, review, deps, ended.stopped !== undefined);
  const isAsked = !record.plan.policy.autoApply;
  const end: SessionEnd = { record, review, whole, choice, agent: ended, isAsked };
  if (choice.discard || !choice.decided) return endSession(end, deps);
  const applied = await applySession(record, choice, deps, {
    conflict: 'ask',
    dryRun: false,
    yes: record.plan.policy.autoApply || record.plan.policy.yes,
  });
  return endSession({ ...end, record: applied.record, outcome: applied.outcome }, deps);
}

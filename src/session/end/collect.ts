import type { Collected } from '../../core/types/entry.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import { neededOf, possibleMembers } from '../../review/choices/file-sets.ts';
import { touchesBranches } from '../../review/choices/policy.ts';
import { matchRenames } from '../../review/choices/renames/match-renames.ts';
import type { ChangeJudge } from '../../review/judging/change-judge.ts';
import type { Workspace } from '../../workspace/view/workspace.ts';
import { appendEvent } from '../record/events/events-file.ts';
import { readCollected, updateRecord, wasCollected, writeCollected } from '../record/session.ts';
import type { SessionDeps } from '../stage/deps.ts';
import { type AuditResult, auditCollected, auditResult, nowNs, whyUnaudited, withoutAudit } from './audit-collected.ts';
import { collectClaudeData } from './claude-data.ts';
import { noteCommits } from './note-commits.ts';
import { outcomeAfterResume } from './outcome-after.ts';

export interface CollectInput {
  readonly workspace: Workspace;
  /** Undefined: the audit is left to the command that needs it. */
  readonly judge: ChangeJudge | undefined;
  /** Credentials that were inside. */
  readonly secrets: readonly string[];
  /** Stops the audit. */
  readonly signal: AbortSignal;
}

/**
 * Freezes what a session changed, audits it, and writes both before anything is shown. Returns the record, which is
 * pending then. An audit that the user interrupts, or that fails, is left to a later command: until then every change is
 * blocked. Precondition: the last writer has ended.
 */
export async function collectSession(
  record: SessionRecord,
  { workspace, judge, secrets, signal }: CollectInput,
  deps: SessionDeps,
): Promise<SessionRecord> {
  const isFolder = record.plan.besideSession !== undefined;
  const text = isFolder ? `Reviewing the folder ${record.project}...` : 'Session ended. Reviewing workspace changes...';
  deps.tell({ kind: 'message', level: 'info', text });
  // It starts while the changes are read.
  judge?.start();
  const collected = await workspace.collect({ match: matchRenames, members: { neededOf, possibleMembers } });
  const claude = await collectClaudeData(record, workspace.reader, secrets);
  const audited = await auditNow(collected, judge, record, { deps, signal });
  const now = { version: 1, ...collected, ...audited, ...(claude && { claude }) } as const;
  const { outcome } = record;
  const { sessionDir } = record.plan;
  const kept =
    outcome && wasCollected(sessionDir) ? outcomeAfterResume(outcome, readCollected(sessionDir), now) : outcome;
  writeCollected(sessionDir, now);
  appendEvent(sessionDir, 'files', changedText(collected.changes));
  const pending = updateRecord(record, { stage: 'pending', outcome: kept });
  workspace.forgetProgress();
  const { changes } = collected;
  return noteCommits(pending, deps, touchesBranches(changes) ? workspace.mounts : undefined, changes);
}

/** '2 created, 1 modified': files, without what is in `.git`. */
function changedText(changes: Collected['changes']): string {
  const counts = new Map<string, number>();
  for (const { kind, path, after, before } of changes) {
    if ((after ?? before)?.kind === 'dir' || /(?:^|\/)\.git(?:\/|$)/.test(path)) continue;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts.size === 0 ? 'no file changed' : [...counts].map(([kind, count]) => `${count} ${kind}`).join(', ');
}

async function auditNow(
  collected: Collected,
  judge: ChangeJudge | undefined,
  { plan }: SessionRecord,
  { deps, signal }: { readonly deps: SessionDeps; readonly signal: AbortSignal },
): Promise<AuditResult> {
  const endedNs = nowNs();
  if (judge === undefined) return withoutAudit(collected, endedNs);
  try {
    return auditResult(await auditCollected(collected, judge, plan, { endedNs, signal, tell: deps.tell }), endedNs);
  } catch (error) {
    const why = whyUnaudited(error);
    if (why !== undefined) deps.tell({ kind: 'message', level: 'warning', text: why });
    return withoutAudit(collected, endedNs);
  }
}

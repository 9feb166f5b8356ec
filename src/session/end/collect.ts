import type { BaseReader } from '../../audit/input.ts';
import { maxEntryBytes } from '../../base/generation.ts';
import { readCollected, updateRecord, wasCollected, writeCollected } from '../../record/session.ts';
import { matchRenames } from '../../review/match-renames.ts';
import type { SessionRecord } from '../../types/session.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { SessionDeps } from '../start/deps.ts';
import { collectClaudeData } from './claude-data.ts';
import { outcomeAfterResume } from './remaining-changes.ts';
import { auditCollected } from './review-session.ts';

export interface CollectInput {
  readonly workspace: Workspace;
  /** The project before the session. */
  readonly auditBase: () => Promise<BaseReader>;
  /** Credentials that were inside. */
  readonly secrets: readonly string[];
}

/**
 * Freezes what a session changed, audits it, and writes both before anything is shown. Returns the record, which is
 * pending then. Precondition: the last writer has ended.
 */
export async function collectSession(
  record: SessionRecord,
  { workspace, auditBase, secrets }: CollectInput,
  deps: SessionDeps,
): Promise<SessionRecord> {
  deps.tell({ kind: 'message', level: 'info', text: 'Session ended. Reviewing workspace changes...' });
  const collected = await workspace.collect(matchRenames);
  const { sessionDir, policy, project, baseDir } = record.plan;
  const base = await auditBase();
  const findings = auditCollected(collected, {
    sessionDir,
    policy,
    base,
    maxPathBytes: maxEntryBytes(baseDir, project.root),
  });
  const claude = await collectClaudeData(record, workspace.reader, secrets);
  const now = { version: 1, ...collected, findings, ...(claude && { claude }) } as const;
  const { outcome } = record;
  const kept =
    outcome && wasCollected(sessionDir) ? outcomeAfterResume(outcome, readCollected(sessionDir), now) : outcome;
  writeCollected(sessionDir, now);
  const pending = updateRecord(record, { stage: 'pending', outcome: kept });
  workspace.forgetProgress();
  return pending;
}

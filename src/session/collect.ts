import type { SessionRecord } from '../types/session.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { SessionDeps } from './deps.ts';
import { updateRecord, writeCollected } from './record.ts';
import { auditCollected } from './review-session.ts';

/**
 * Freezes what a session changed, audits it, and writes both before anything is shown. Precondition: the last writer
 * has ended.
 */
export async function collectSession(
  record: SessionRecord,
  workspace: Workspace,
  deps: SessionDeps,
): Promise<SessionRecord> {
  deps.tell({ kind: 'message', level: 'info', text: 'Session ended. Reviewing workspace changes...' });
  const collected = await workspace.collect();
  const findings = auditCollected(collected, record.plan.sessionDir, record.plan.policy);
  writeCollected(record.plan.sessionDir, { version: 1, ...collected, findings });
  return updateRecord(record, { stage: 'pending' });
}

import { EXIT, RunClaudeError } from '../../core/errors.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import { updateRecord } from '../record/session.ts';
import { startFailureOf } from '../record/start-failure.ts';
import type { SessionDeps } from '../stage/deps.ts';
import { reportOfFailed } from './report/write-report.ts';

/** Records why the agent of a session never ran, and writes the report that the user asked for. Returns the record. */
export async function failStart(
  record: SessionRecord,
  error: unknown,
  deps: Pick<SessionDeps, 'report' | 'tell'>,
): Promise<SessionRecord> {
  const failed = updateRecord(record, { stage: 'failed', failure: startFailureOf(error) });
  try {
    const status = error instanceof RunClaudeError ? error.status : EXIT.failed;
    if (deps.report !== undefined) deps.report.write(await reportOfFailed(failed, status));
  } catch (lost) {
    // The session's own error counts.
    deps.tell({ kind: 'message', level: 'warning', text: `The report was not written: ${(lost as Error).message}` });
  }
  return failed;
}

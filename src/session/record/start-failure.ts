import { Interrupted, RunClaudeError } from '../../core/errors.ts';
import type { SessionRecord, StartFailure } from '../../core/types/session.ts';

/** An engine's message may be of any length, and the record is read by each start. */
const MAX_TEXT_CHARACTERS = 2000;

/** Why a start failed, for the session's record. */
export function startFailureOf(error: unknown): StartFailure {
  if (error instanceof Interrupted) return { code: 'START_INTERRUPTED', message: error.message };
  const message = (error instanceof Error ? error.message : String(error)).slice(0, MAX_TEXT_CHARACTERS);
  if (!(error instanceof RunClaudeError)) return { code: (error as NodeJS.ErrnoException).code ?? 'BUG', message };
  return { code: error.code, message, ...(error.hint === undefined ? {} : { hint: error.hint }) };
}

/**
 * 'failed at its start (ENGINE_LOST: the engine does not answer)', with the first line of the message. Earlier releases
 * recorded no reason.
 */
export function failureText({ failure }: Pick<SessionRecord, 'failure'>): string {
  if (failure === undefined) return 'failed at its start; the reason was not recorded';
  // The agent of such a session ran, and nothing of it was saved.
  const what = failure.code === 'JOB_UNSAVED' ? 'failed' : 'failed at its start';
  return `${what} (${failure.code}: ${failure.message.split('\n')[0]})`;
}

/**
 * For what needs the changes of a session.
 *
 * @throws {RunClaudeError} SESSION_FAILED for a session whose start failed, with the reason, also after it was discarded.
 */
export function requireStarted(record: Pick<SessionRecord, 'id' | 'stage' | 'failure'>): void {
  const hasFailed = record.stage === 'failed' || (record.stage === 'discarded' && record.failure !== undefined);
  if (!hasFailed) return;
  const text = `session ${record.id} has no changes: it ${failureText(record)}`;
  throw new RunClaudeError('SESSION_FAILED', text, { hint: record.failure?.hint ?? 'Start a new session.' });
}

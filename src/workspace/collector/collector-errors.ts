import { RunClaudeError } from '../../core/errors.ts';

/** The collector could not read an entry, or refused to. */
export function collectorRefused(why: string): RunClaudeError {
  return new RunClaudeError('COLLECTOR_READ', `the collector could not read it: ${why}`);
}

/** A root holds more entries than the caller accepts. */
export function tooManyEntries(root: string, max: number): RunClaudeError {
  return new RunClaudeError('COLLECTOR_TOO_MANY', `more than ${max} entries in ${root}`, {
    hint: 'Inspect the session with `run-claude explore`. Nothing was collected from it.',
  });
}

/** The collector has ended, or does not answer. */
export function collectorLost(why: string): RunClaudeError {
  return new RunClaudeError('COLLECTOR_LOST', `the collector is lost: ${why}`, {
    hint: 'The session is kept; the next command on it collects again.',
  });
}

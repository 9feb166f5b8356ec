import { EXIT, RunClaudeError } from '../errors.ts';
import type { Tell } from '../types/event.ts';

/** Tells a person what went wrong: one clear line, what to do next, the stack only with --trace. Gives the exit status. */
export function printError(error: unknown, tell: Tell): number {
  const known = error instanceof RunClaudeError;
  const text = error instanceof Error ? error.message : String(error);
  tell({ kind: 'message', level: 'error', text: known ? text : `a bug in run-claude: ${text}` });
  const hint = known ? error.hint : 'With --trace it says where; please report it.';
  if (hint !== undefined) tell({ kind: 'message', level: 'info', text: hint });
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    tell({ kind: 'trace', text: at.stack ?? at.message });
  }
  return known ? error.status : EXIT.failed;
}

import { EXIT, RunClaudeError } from '../errors.ts';
import { remedyOf } from '../store/remedy.ts';
import type { Tell } from '../types/event.ts';

/** The hint where an update or a removal deleted a part of this program before it was loaded. */
const REPLACED =
  'Was run-claude updated or removed while it ran? Nothing is lost: run-claude sessions lists pending changes.';

/** Prints an error: one line, the next step, and with --trace the stack. Returns the exit status. */
export function printError(error: unknown, tell: Tell): number {
  const text = error instanceof Error ? error.message : String(error);
  // A full or failing disk is not a bug, whatever wrote to it.
  const remedy = error instanceof Error ? (isReplaced(error) ? REPLACED : remedyOf(error)) : undefined;
  const known = error instanceof RunClaudeError || remedy !== undefined;
  const { hint, status } =
    error instanceof RunClaudeError
      ? error
      : { hint: remedy ?? 'Please report it, with the output of the same command and --trace.', status: EXIT.failed };
  tell({ kind: 'message', level: 'error', text: known ? text : `a bug in run-claude: ${text}` });
  if (hint !== undefined) tell({ kind: 'message', level: 'info', text: hint });
  if (error instanceof RunClaudeError) tell({ kind: 'trace', text: `error code ${error.code}` });
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    tell({ kind: 'trace', text: at.stack ?? at.message });
  }
  return status;
}

function isReplaced(error: NodeJS.ErrnoException): boolean {
  return error.code === 'ERR_MODULE_NOT_FOUND';
}

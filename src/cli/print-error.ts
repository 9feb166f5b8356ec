import { EXIT, RunClaudeError } from '../core/errors.ts';
import { remedyOf } from '../core/store/remedy.ts';
import type { Tell } from '../core/types/event.ts';

/** The hint where an update or a removal deleted a part of this program before it was loaded. */
const REPLACED =
  'Was run-claude updated or removed while it ran? Nothing is lost: run-claude sessions lists pending changes.';

/**
 * Prints an error: one line with its code, the next step, and with --trace the stack. What the user chose is printed as information.
 * Returns the exit status.
 */
export function printError(error: unknown, tell: Tell): number {
  const text = error instanceof Error ? error.message : String(error);
  // A full or failing disk is not a bug, whatever wrote to it.
  const remedy = error instanceof Error ? (isReplaced(error) ? REPLACED : remedyOf(error)) : undefined;
  const known = error instanceof RunClaudeError || remedy !== undefined;
  const { hint, status } =
    error instanceof RunClaudeError
      ? error
      : { hint: remedy ?? 'Please report it, with the output of the same command and --trace.', status: EXIT.failed };
  const code = codeOf(error, known);
  // A message of the system begins with its code.
  const shown = known ? text.replace(`${code}: `, '') : `a bug in run-claude: ${text}`;
  if (error instanceof RunClaudeError && error.isChosen) tell({ kind: 'message', level: 'info', text: shown });
  else tell({ kind: 'message', level: 'error', text: shown, code });
  if (hint !== undefined) tell({ kind: 'message', level: 'info', text: hint });
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    tell({ kind: 'trace', text: at.stack ?? at.message });
  }
  return status;
}

/** run-claude's own code, the system's, or BUG. */
function codeOf(error: unknown, isKnown: boolean): string {
  if (error instanceof RunClaudeError) return error.code;
  const code = isKnown ? (error as NodeJS.ErrnoException).code : undefined;
  return code ?? 'BUG';
}

function isReplaced(error: NodeJS.ErrnoException): boolean {
  return error.code === 'ERR_MODULE_NOT_FOUND';
}

import { EXIT, RunClaudeError } from '../errors.ts';
import { remedyOf } from '../store/remedy.ts';
import type { Tell } from '../types/event.ts';

/** Where an update or a removal took a part of this program that it had not loaded yet. */
const REPLACED = 'Was it updated or removed meanwhile? Nothing is lost: run-claude sessions shows what waits.';

/** Tells a person what went wrong: one clear line, what to do next, the stack only with --trace. Gives the exit status. */
export function printError(error: unknown, tell: Tell): number {
  const text = error instanceof Error ? error.message : String(error);
  // A disk that refuses is no bug, whoever wrote to it.
  const remedy = error instanceof Error ? (isReplaced(error) ? REPLACED : remedyOf(error)) : undefined;
  const known = error instanceof RunClaudeError || remedy !== undefined;
  const { hint, status } =
    error instanceof RunClaudeError
      ? error
      : { hint: remedy ?? 'With --trace it says where; please report it.', status: EXIT.failed };
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

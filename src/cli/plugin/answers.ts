import type { ToolInput } from './event.ts';

// Answers of a hook, as Claude Code reads them from its standard output.

/** The call does not happen. The model reads the reason. */
export const refusal = (reason: string): string => toolAnswer('deny', reason);

/** The user is asked, and reads the warning in the question and above it. */
export const question = (warning: string): string => toolAnswer('ask', warning, { systemMessage: warning });

/** The call happens with this input, without a question: it can change nothing but the copy. `forUser`: what the user reads. */
export const insideTheCopy = (updatedInput: ToolInput, forUser?: string): string =>
  toolAnswer('allow', 'acts in the copy of run-claude', forUser === undefined ? {} : { systemMessage: forUser }, {
    updatedInput,
  });

/** No word about the event: Claude Code's own rules decide. Not empty, as the output of a program that died would be. */
export const NO_ANSWER = '{}\n';

/** At the start of a conversation: what the model reads, and what the user reads. */
export const startAnswer = (forModel: string, forUser: string): string =>
  jsonLine({
    systemMessage: forUser,
    hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: forModel },
  });

/** A word to the user alone; the event goes on. */
export const note = (systemMessage: string): string => jsonLine({ systemMessage });

/** The prompt goes no further: the user reads the text, the model does not. */
export const promptAnswer = (text: string): string => jsonLine({ decision: 'block', reason: text });

function toolAnswer(permissionDecision: string, reason: string, top = {}, more = {}): string {
  const decided = { permissionDecision, permissionDecisionReason: reason, ...more };
  return jsonLine({ ...top, hookSpecificOutput: { hookEventName: 'PreToolUse', ...decided } });
}

const jsonLine = (value: unknown): string => `${JSON.stringify(value)}\n`;

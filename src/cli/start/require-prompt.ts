import { homeAgent, readsPromptFromInput } from '../../agents/agents.ts';
import { usageError } from '../../core/errors.ts';
import { hasInput } from '../../core/host/facts.ts';
import type { Program } from '../../core/types/plan.ts';

/**
 * Refuses a program that is to print one answer and has no prompt: it would start, read nothing and fail.
 *
 * @throws {RunClaudeError} USAGE
 */
export function requirePrompt(program: Program, input: Parameters<typeof hasInput>[0]): void {
  if (readsPromptFromInput(program) && !hasInput(input))
    throw usageError(
      `${homeAgent(program).title} is to print one answer, and there is no prompt`,
      'Write the prompt behind the option, as in -p "Fix the tests.", or pipe it to standard input.',
    );
}

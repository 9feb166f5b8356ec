import { homeAgent, readsPromptFromInput } from '../../agents/agents.ts';
import { usageError } from '../../core/errors.ts';
import { hasInput, probeHost } from '../../core/host/facts.ts';
import type { Program } from '../../core/types/plan.ts';
import type { AskedRun, AskingPlace } from '../../session/start/set-up-run.ts';
import type { CommandContext } from '../context/context.ts';
import type { RunLine } from '../grammar/parse-command-line.ts';
import type { ProjectPolicy } from '../policy/read-policy.ts';
import { refuseContradictions, withoutUnused } from '../policy/refuse-contradictions.ts';

/**
 * The session that a command line asks for, with the policy of all its sources.
 *
 * @throws {RunClaudeError} USAGE for settings that contradict each other, and for a prompt that is missing
 */
export function askedRun({ action, program, task }: RunLine, merged: ProjectPolicy): AskedRun {
  refuseContradictions(merged, { action, program });
  requirePrompt(program, process);
  const { policy, warnings } = withoutUnused(merged);
  const { project, request } = merged;
  return { policy, project, request, warnings: [...merged.warnings, ...warnings], program, task };
}

/** This machine, and where the command was started. */
export function askingPlace({ cwd, env, places }: Pick<CommandContext, 'cwd' | 'env' | 'places'>): AskingPlace {
  return { host: probeHost(process, places), cwd, env };
}

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

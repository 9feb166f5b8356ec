import { isPrintOnly, resumedProgram } from '../../agents/agents.ts';
import { usageError } from '../../core/errors.ts';
import type { HostFacts, Plan, Program } from '../../core/types/plan.ts';
import { terminalType } from '../../terminal/attach/terminal-type.ts';

/** The terminal of a command. */
export interface Terminal {
  readonly host: Pick<HostFacts, 'stdinTty' | 'stdoutTty'>;
  /** Its TERM. */
  readonly term: string | undefined;
}

export interface ResumeInput extends Terminal {
  /** The words after `--`: for the agent, or a command in place of that of an `exec` session. */
  readonly words: readonly string[];
  /** The id of the session's own conversation; undefined where it wrote none. */
  readonly conversation: string | undefined;
}

/**
 * The plan for another run on a session's layer: the same sandbox, on this terminal. Pure.
 *
 * @throws {RunClaudeError} USAGE for an option where the session runs a command
 */
export function resumePlan(plan: Plan, input: ResumeInput): Plan {
  const [first] = input.words;
  if (plan.program.kind === 'exec' && first?.startsWith('-'))
    throw usageError(
      `'${first}' is not a command, and this session has no agent that could take it`,
      `Write run-claude resume ${plan.sessionId} -- COMMAND.`,
    );
  const program = resumedProgram(plan.program, input.words, input.conversation, plan.policy);
  return withProgram(plan, program, input);
}

/** The plan with another program, on this terminal. Pure. */
export function withProgram(plan: Plan, program: Program, { host, term }: Terminal): Plan {
  return {
    ...plan,
    program,
    tty: host.stdinTty && host.stdoutTty && !isPrintOnly(program),
    env: term === undefined ? plan.env : { ...plan.env, TERM: terminalType(term) },
  };
}

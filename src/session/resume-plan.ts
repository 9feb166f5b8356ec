import type { HostFacts, Plan, Program } from '../types/plan.ts';

export interface ResumeInput {
  /** After `--`: for Claude, or the command that takes the place of an `exec` session's. */
  readonly words: readonly string[];
  /** They ask Claude for -p. */
  readonly print: boolean;
  readonly host: Pick<HostFacts, 'stdinTty' | 'stdoutTty'>;
  /** TERM of the terminal that it is resumed on. */
  readonly term: string | undefined;
}

/** The plan of a session, for another run on its layer: the same sandbox, on this terminal. Pure. */
export function resumePlan(plan: Plan, input: ResumeInput): Plan {
  const { syncBack, isolateClaudeData } = plan.policy;
  const program = resumedProgram(plan.program, input, syncBack && !isolateClaudeData);
  const silent = program.kind === 'claude' && program.print;
  return {
    ...plan,
    program,
    tty: input.host.stdinTty && input.host.stdoutTty && !silent,
    env: input.term === undefined ? plan.env : { ...plan.env, TERM: input.term },
  };
}

const PERMISSIONS = /^--(dangerously-skip-permissions|permission-mode=.*)$/;
const CHOOSES = /^(-c|-r|--continue|--resume)(=|$)/;

/** Claude goes on with its conversation, where conversations come back, and does not get its first prompt again. */
function resumedProgram(program: Program, { words, print }: ResumeInput, remembers: boolean): Program {
  if (program.kind === 'shell') return words.length === 0 ? program : { kind: 'shell', args: words };
  if (program.kind === 'exec') return words.length === 0 ? program : { kind: 'exec', argv: words };
  const kept = program.args.filter((word) => PERMISSIONS.test(word));
  const chosen = !remembers || words.some((word) => CHOOSES.test(word)) ? [] : ['--continue'];
  return { kind: 'claude', args: [...kept, ...chosen, ...words], print };
}

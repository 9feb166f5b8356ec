import { namedConversation, permissionWords, withPermissions } from '../../plan/claude-words.ts';
import type { HostFacts, Plan, Program } from '../../types/plan.ts';

/** The terminal that a command was typed on. */
export interface Terminal {
  readonly host: Pick<HostFacts, 'stdinTty' | 'stdoutTty'>;
  /** Its TERM. */
  readonly term: string | undefined;
}

export interface ResumeInput extends Terminal {
  /** After `--`: for Claude, or the command that takes the place of an `exec` session's. */
  readonly words: readonly string[];
  /** They ask Claude for -p. */
  readonly print: boolean;
  /** They say which conversation. */
  readonly choosesConversation: boolean;
  /** Id of the session's own. */
  readonly conversation: string | undefined;
}

/** The plan of a session, for another run on its layer: the same sandbox, on this terminal. Pure. */
export function resumePlan(plan: Plan, input: ResumeInput): Plan {
  return withProgram(plan, resumedProgram(plan, input), input);
}

/** The plan of a session with another program, on this terminal. Pure. */
export function withProgram(plan: Plan, program: Program, { host, term }: Terminal): Plan {
  const silent = program.kind === 'claude' && program.print;
  return {
    ...plan,
    program,
    tty: host.stdinTty && host.stdoutTty && !silent,
    env: term === undefined ? plan.env : { ...plan.env, TERM: term },
  };
}

/** Claude goes on with the session's own conversation, and does not get its first prompt again. */
function resumedProgram({ program, policy }: Plan, input: ResumeInput): Program {
  const { words, print } = input;
  if (program.kind === 'shell') return words.length === 0 ? program : { kind: 'shell', args: words };
  if (program.kind === 'exec') return words.length === 0 ? program : { kind: 'exec', argv: words };
  // `--continue` would take the project's newest, which another session may have made. A run that wrote nothing leaves
  // the conversation that it was started with.
  const conversation = input.conversation ?? namedConversation(program.args);
  const chosen = input.choosesConversation || conversation === undefined ? [] : ['--resume', conversation];
  const kept = permissionWords(words).length > 0 ? [] : permissionWords(program.args);
  return { kind: 'claude', args: withPermissions([...kept, ...chosen, ...words], policy.permissions), print };
}

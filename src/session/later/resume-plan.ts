import { namedConversation, permissionWords, withPermissions } from '../../plan/claude-words.ts';
import type { HostFacts, Plan, Program } from '../../types/plan.ts';

/** The terminal of a command. */
export interface Terminal {
  readonly host: Pick<HostFacts, 'stdinTty' | 'stdoutTty'>;
  /** Its TERM. */
  readonly term: string | undefined;
}

export interface ResumeInput extends Terminal {
  /** Words after `--`: for Claude, or the command that replaces that of an `exec` session. */
  readonly words: readonly string[];
  /** The words include -p for Claude. */
  readonly print: boolean;
  /** The words choose a conversation. */
  readonly choosesConversation: boolean;
  /** Id of the session's own conversation. */
  readonly conversation: string | undefined;
}

/** The plan for another run on a session's layer: the same sandbox, on this terminal. Pure. */
export function resumePlan(plan: Plan, input: ResumeInput): Plan {
  return withProgram(plan, resumedProgram(plan, input), input);
}

/** The plan with another program, on this terminal. Pure. */
export function withProgram(plan: Plan, program: Program, { host, term }: Terminal): Plan {
  const isPrint = program.kind === 'claude' && program.print;
  return {
    ...plan,
    program,
    tty: host.stdinTty && host.stdoutTty && !isPrint,
    env: term === undefined ? plan.env : { ...plan.env, TERM: term },
  };
}

/** Claude continues the session's own conversation, and does not get its first prompt again. */
function resumedProgram({ program, policy }: Plan, input: ResumeInput): Program {
  const { words, print } = input;
  if (program.kind === 'shell') return words.length === 0 ? program : { kind: 'shell', args: words };
  if (program.kind === 'exec') return words.length === 0 ? program : { kind: 'exec', argv: words };
  // `--continue` would take the project's newest conversation, which another session may have written. A run that wrote
  // none has the conversation that it was started with.
  const conversation = input.conversation ?? namedConversation(program.args);
  const chosen = input.choosesConversation || conversation === undefined ? [] : ['--resume', conversation];
  const kept = permissionWords(words).length > 0 ? [] : permissionWords(program.args);
  return { kind: 'claude', args: withPermissions([...kept, ...chosen, ...words], policy.permissions), print };
}

import type { AgentName } from '../core/types/agent/agent-package.ts';
import type { OwnAgent } from '../core/types/agent/own-agent.ts';
import type { AgentProgram, Program } from '../core/types/plan.ts';
import type { Policy } from '../core/types/policy.ts';
import type { Agent } from './agent.ts';
import { CLAUDE } from './claude.ts';
import { CODEX } from './codex.ts';
import { COPILOT } from './copilot.ts';
import { GEMINI } from './gemini.ts';
import { OPENCODE } from './opencode.ts';
import { ownAgent } from './own-agent.ts';

/** Every agent: one row and one file each. */
const AGENTS: Readonly<Record<AgentName, Agent>> = {
  claude: CLAUDE,
  codex: CODEX,
  gemini: GEMINI,
  opencode: OPENCODE,
  copilot: COPILOT,
};

/** The agent of a session whose command line names none. */
export const DEFAULT_AGENT: Agent = CLAUDE;

/** The agent of that name, of run-claude or of the user's configuration; undefined for any other word. */
export function agentNamed(name: string, own: readonly OwnAgent[] = []): Agent | undefined {
  if (Object.hasOwn(AGENTS, name)) return AGENTS[name as AgentName];
  const row = own.find((one) => one.name === name);
  return row && ownAgent(row);
}

const agentFor = (named: AgentName | OwnAgent): Agent => (typeof named === 'string' ? AGENTS[named] : ownAgent(named));

const agentRunBy = (program: AgentProgram): Agent => agentFor(program.kind === 'own' ? program.agent : program.kind);

function isAgentProgram(program: Program): program is AgentProgram {
  return program.kind === 'own' || Object.hasOwn(AGENTS, program.kind);
}

/** The agent that a session runs; undefined for a shell or another command. */
export function agentOf(program: Program): Agent | undefined {
  return isAgentProgram(program) ? agentRunBy(program) : undefined;
}

/**
 * The agent whose home, credential and broker a session has. A shell or another command has those of the agent that its
 * command line names, which may be started from it; by default those of the default agent.
 */
export function homeAgent(program: Program): Agent {
  if (isAgentProgram(program)) return agentRunBy(program);
  return program.agent === undefined ? DEFAULT_AGENT : agentFor(program.agent);
}

/** An agent with words for it, in the parts of the command line before and after `--`. */
export function agentProgram(agent: Agent, before: readonly string[], after: readonly string[]): AgentProgram {
  const { asksForPrint } = agent.commandLine;
  const words = { args: [...before, ...after], print: asksForPrint(before) || asksForPrint(after) };
  return agent.own === undefined ? { kind: agent.name, ...words } : { kind: 'own', agent: agent.own, ...words };
}

/** Whether the program prints one answer and reads nothing from a terminal. */
export function isPrintOnly(program: Program): boolean {
  return isAgentProgram(program) && program.print;
}

const ASKS_ABOUT_ITSELF = ['-h', '--help', '-v', '--version'];

/**
 * Whether the program is to print one answer, and its words have no prompt: it then reads the prompt from its input. False
 * where its words have an option that run-claude does not know, whose value may be anything.
 */
export function readsPromptFromInput(program: Program): boolean {
  if (!isPrintOnly(program) || !isAgentProgram(program) || program.kind === 'own') return false;
  const { promptOf: prompt, readOption } = agentRunBy(program).commandLine;
  const options = program.args.filter((word) => /^-./.test(word));
  if (options.some((word) => ASKS_ABOUT_ITSELF.includes(word) || readOption(word) === undefined)) return false;
  return prompt(program.args) === undefined;
}

/** Ends with its input, which the engine closes when the command that holds the session ends, by SIGKILL too. */
const WAITING_PROGRAM = '/bin/cat';

/** What the agents keep in their home, of all agents of run-claude. */
export const AGENT_HOME_PATHS: readonly string[] = Object.values(AGENTS).flatMap(({ homePaths }) => homePaths);

/** The words that start the program inside. */
export function programArgv(program: Program): readonly string[] {
  if (program.kind === 'exec') return program.argv;
  if (program.kind === 'shell') return ['/bin/bash', ...program.args];
  if (program.kind === 'kept') return [WAITING_PROGRAM];
  return [...agentRunBy(program).program, ...program.args];
}

/** The program with the policy's permission mode, where it is an agent whose words do not choose one. */
export function withPermissionMode(program: Program, { permissions }: Pick<Policy, 'permissions'>): Program {
  if (!isAgentProgram(program)) return program;
  return { ...program, args: agentRunBy(program).commandLine.withPermissions(program.args, permissions) };
}

/** The conversation that the program's words continue. */
export function namedConversation(program: Program): string | undefined {
  return isAgentProgram(program) ? agentRunBy(program).commandLine.namedConversation(program.args) : undefined;
}

/** The prompt among the program's words; undefined where it is not an agent, or has none. */
export function promptOf(program: Program): string | undefined {
  return isAgentProgram(program) ? agentRunBy(program).commandLine.promptOf(program.args) : undefined;
}

/**
 * The program of a session for another run of it, with words of the user's. An agent continues `conversation`, by
 * default the one that its first run continued, and does not get its first prompt again. A shell or another
 * command is repeated as it was, unless words take the place of its own. A kept session is continued in a shell.
 */
export function resumedProgram(
  program: Program,
  words: readonly string[],
  conversation: string | undefined,
  policy: Pick<Policy, 'permissions'>,
): Program {
  if (program.kind === 'exec') return words.length === 0 ? program : { ...program, argv: words };
  if (program.kind === 'shell') return words.length === 0 ? program : { ...program, args: words };
  if (program.kind === 'kept') return { ...program, kind: 'shell', args: words };
  const { asksForPrint, choosesConversation, permissionWords, resumeWords } = agentRunBy(program).commandLine;
  // Options such as `--continue` take the project's newest conversation, which another session may have made. A run that
  // wrote nothing leaves the conversation that it was started with.
  const resumed = conversation ?? namedConversation(program);
  const chosen = choosesConversation(words) || resumed === undefined ? words : resumeWords(resumed, words);
  const kept = permissionWords(words).length > 0 ? [] : permissionWords(program.args);
  const args = [...kept, ...chosen];
  return withPermissionMode({ ...program, args, print: asksForPrint(words) }, policy);
}

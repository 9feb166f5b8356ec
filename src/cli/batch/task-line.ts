import type { Agent } from '../../agents/agent.ts';
import { agentNamed, DEFAULT_AGENT } from '../../agents/agents.ts';
import { taskWords } from '../../agents/task-words.ts';
import { usageError } from '../../core/errors.ts';
import { COMMANDS } from '../grammar/commands.ts';
import {
  type ChosenAgents,
  type CommandLineOfCommand,
  type IsDirectory,
  parseCommandLine,
  type RunLine,
} from '../grammar/parse-command-line.ts';
import type { Task } from './tasks/task.ts';

/** The command line of a task's session. */
export interface TaskLine {
  readonly task: Task;
  readonly words: readonly string[];
  /** For the agent's standard input. */
  readonly input: string;
  readonly line: RunLine;
}

/** Options of the batch itself. */
const OWN_OPTIONS: readonly string[] = [
  ...(COMMANDS.find(({ name }) => name === 'batch')?.options ?? []).map(({ name }) => name),
  'quiet',
];

/**
 * The command line of a task: the options of the batch, then the limits of the line, which take their place.
 *
 * @throws {RunClaudeError} USAGE for what no session can be started with
 */
export function taskLine(
  task: Task,
  batch: CommandLineOfCommand,
  { agents, isDirectory }: { readonly agents: ChosenAgents; readonly isDirectory: IsDirectory },
): TaskLine {
  const { words: ofAgent, input } = taskWords(agentOfTask(task, batch, agents), task.prompt, batch.rest);
  const words = [...optionWords(task, batch), task.project, '--', ...ofAgent];
  const line = parseCommandLine(words, isDirectory, agents);
  if (line.kind !== 'run') throw usageError('this is not a session');
  return { task, words, input, line };
}

function agentOfTask({ agent }: Task, { options }: CommandLineOfCommand, { usual, own }: ChosenAgents): Agent {
  const named = agent ?? options.get('agent')?.at(-1);
  const found = agentNamed(named ?? usual ?? DEFAULT_AGENT.name, own);
  if (found !== undefined) return found;
  if (named === undefined) return DEFAULT_AGENT;
  throw usageError(`there is no agent '${named}'`, 'run-claude batch --help names the agents.');
}

function optionWords({ limits, agent }: Task, { options }: CommandLineOfCommand): string[] {
  const ofLine: Readonly<Record<string, string>> = { ...limits, ...(agent === undefined ? {} : { agent }) };
  const ofBatch = [...options].flatMap(([name, values]) =>
    OWN_OPTIONS.includes(name) || name in ofLine ? [] : values.map((value) => [name, value] as const),
  );
  // An option without a value has an empty one.
  return [...ofBatch, ...Object.entries(ofLine)].map(([name, value]) => `--${name}${value === '' ? '' : `=${value}`}`);
}

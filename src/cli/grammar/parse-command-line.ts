import type { Agent } from '../../agents/agent.ts';
import { agentNamed, agentProgram, DEFAULT_AGENT } from '../../agents/agents.ts';
import type { FlagValue } from '../../core/config/merge-policy.ts';
import { nearest } from '../../core/config/values/nearest.ts';
import { AGENT_NAMES } from '../../core/types/agent/agent-package.ts';
import type { OwnAgent } from '../../core/types/agent/own-agent.ts';
import type { Program } from '../../core/types/plan.ts';
import { type CommandOption, type CommandShape, optionsByName } from './command-shape.ts';
import { ALIASES, COMMON_OPTIONS, commandNamed } from './commands.ts';
import { type DryRunOptions, formOf } from './dry-run-form.ts';
import * as refused from './grammar-errors.ts';
import { optionsForEach, RUN_OPTIONS } from './options.ts';
import { modeFlags, settingFlags } from './setting-flags.ts';
import { type ParsedOption, takeOption } from './take-option.ts';

/** A command line that starts a session, or shows its plan. */
export interface RunLine extends DryRunOptions {
  readonly kind: 'run';
  readonly action: 'run' | 'dry-run' | 'check' | 'up' | 'serve';
  /** As typed; undefined for the current directory. */
  readonly project: string | undefined;
  readonly program: Program;
  readonly flags: readonly FlagValue[];
  /** With `up`: print JSON. */
  readonly json?: true;
  /** Starts a session without a terminal. */
  readonly background?: true;
  /** As in the plan. Never from a command line. */
  readonly task?: string;
}

export interface CommandLineOfCommand {
  readonly kind: 'command';
  readonly name: string;
  readonly options: ReadonlyMap<string, readonly string[]>;
  readonly words: readonly string[];
  /** After `--`. */
  readonly rest: readonly string[];
}

export type CommandLine =
  /** `topic`: a command, a page of the documentation, or neither. */
  | { readonly kind: 'help'; readonly topic: string | undefined }
  | { readonly kind: 'version' }
  | RunLine
  | CommandLineOfCommand;

/** The agents that a command line can name besides run-claude's own, and the one of a session whose words name none. */
export interface ChosenAgents {
  readonly usual?: string | undefined;
  readonly own?: readonly OwnAgent[];
}

interface Agents {
  readonly usual: Agent;
  readonly own: readonly OwnAgent[];
}

/** Whether a word names a directory: all that the grammar reads from the disk. */
export type IsDirectory = (word: string) => boolean;

const RUN_BY_NAME = optionsByName(RUN_OPTIONS);

/**
 * The words after `run-claude` as one request (docs/reference/command-line.md, "Grammar"). Pure except for `isDirectory`.
 *
 * @throws {RunClaudeError} USAGE for a word that is not clearly an option of run-claude, the project or the agent's: a
 * mistyped word must not start an agent
 */
export function parseCommandLine(
  argv: readonly string[],
  isDirectory: IsDirectory,
  { usual, own = [] }: ChosenAgents = {},
): CommandLine {
  const [first, ...others] = argv;
  const agents = { usual: agentNamed(usual ?? DEFAULT_AGENT.name, own) ?? DEFAULT_AGENT, own };
  const shape = first === undefined ? undefined : commandNamed.get(ALIASES.get(first) ?? first);
  if (shape === undefined) return parseSession(argv, isDirectory, undefined, agents);
  if (shape.name === 'up') return parseSession(others, isDirectory, shape, agents);
  if (shape.name === 'mcp' && others[0] === 'serve') return parseSession(others.slice(1), isDirectory, shape, agents);
  if (shape.name === 'exec' && !namesSession(others)) return parseSession(others, isDirectory, shape, agents);
  if (shape.name === 'batch') return parseCommand(shape, others, optionsForEach(shape.name));
  return parseCommand(shape, others);
}

/** Whether `exec` is to run its command in a session that runs. */
function namesSession(words: readonly string[]): boolean {
  const before = words.includes('--') ? words.slice(0, words.indexOf('--')) : words;
  return before.some((word) => word === '--session' || word.startsWith('--session='));
}

/** `help` and `version` are answered like the options of these names. */
function asRequest(line: CommandLineOfCommand): CommandLine {
  if (line.name === 'version') return { kind: 'version' };
  if (line.name !== 'help') return line;
  return helpAbout(line.words[0]);
}

function helpAbout(topic: string | undefined): CommandLine {
  return { kind: 'help', topic };
}

/** The words before `--`, sorted: options of run-claude, the project, and words for the agent. */
interface SortedWords {
  readonly taken: readonly ParsedOption[];
  readonly project: string | undefined;
  readonly forAgent: readonly string[];
}

function parseSession(
  argv: readonly string[],
  isDirectory: IsDirectory,
  shape: CommandShape | undefined,
  agents: Agents,
): CommandLine {
  const exec = shape?.name === 'exec' ? shape : undefined;
  const kept = exec === undefined ? shape : undefined;
  const cut = argv.indexOf('--');
  const before = cut === -1 ? argv : argv.slice(0, cut);
  const rest = cut === -1 ? [] : argv.slice(cut + 1);
  const agent = namedAgent(before, agents);
  const sorted = sortWords(before, isDirectory, shape, { agent, own: agents.own });
  const has = (name: string): boolean => sorted.taken.some((taken) => taken.option.name === name);
  const help = sorted.taken.find((taken) => taken.option.name === 'help');
  if (help !== undefined) return helpAbout(help.value ?? shape?.name);
  if (has('version')) return { kind: 'version' };
  if (kept !== undefined && rest.length > 0) throw refused.wordsAfterDashes(kept.name);
  if (kept !== undefined && has('shell')) throw refused.exclusiveOptions('--shell', kept.name);
  if (kept !== undefined && has('bind')) throw refused.exclusiveOptions('--bind', kept.name);
  if (kept !== undefined && has('background')) throw refused.exclusiveOptions('--background', kept.name);
  if (exec !== undefined && rest.length === 0) throw refused.execWithoutCommand();
  if (exec !== undefined && has('shell')) throw refused.exclusiveOptions('--shell', 'exec');
  const program: Program =
    exec !== undefined
      ? { kind: 'exec', argv: rest, ...homeOf(agent) }
      : kept !== undefined
        ? { kind: 'kept', ...homeOf(agent) }
        : has('shell')
          ? { kind: 'shell', args: [...sorted.forAgent, ...rest], ...homeOf(agent) }
          : startedHere(agent, sorted.forAgent, rest);
  return {
    kind: 'run',
    action: has('check')
      ? 'check'
      : has('dry-run')
        ? 'dry-run'
        : kept?.name === 'mcp'
          ? 'serve'
          : kept === undefined
            ? 'run'
            : 'up',
    project: sorted.project,
    program,
    flags: [...modeFlags(sorted.taken, program), ...settingFlags(sorted.taken)],
    ...(has('json') ? { json: true } : {}),
    ...(has('background') ? { background: true } : {}),
    ...formOf(sorted.taken),
  };
}

/**
 * The agent with its words.
 *
 * @throws {RunClaudeError} USAGE for an option with which it would go on after its program has ended.
 */
function startedHere(agent: Agent, forAgent: readonly string[], rest: readonly string[]): Program {
  const program = agentProgram(agent, forAgent, rest);
  const words = rest.includes('--') ? rest.slice(0, rest.indexOf('--')) : rest;
  const detaching = [...forAgent, ...words].find((word) => agent.commandLine.detachingOptions?.includes(word));
  if (detaching !== undefined) throw refused.backgroundUnavailable(detaching, agent);
  return program;
}

/** Whose home a shell or another command has, where that is not the default agent's. */
const homeOf = (agent: Agent): Pick<Extract<Program, { kind: 'shell' }>, 'agent'> =>
  agent === DEFAULT_AGENT ? {} : { agent: agent.own ?? agent.name };

/**
 * The agent that `--agent` names among run-claude's words. Claude has an option of that name too: any other word is left to
 * it, unless it is near to the name of an agent.
 *
 * @throws {RunClaudeError} USAGE
 */
function namedAgent(words: readonly string[], { usual, own }: Agents): Agent {
  let agent = usual;
  for (const [at, word] of words.entries()) {
    const name = word === '--agent' ? words[at + 1] : /^--agent=([\s\S]*)$/.exec(word)?.[1];
    if (name === undefined) continue;
    const found = agentNamed(name, own);
    if (found === undefined && nearest(name, agentNames(own)) !== undefined)
      throw refused.agentUnknown(name, agentNames(own));
    agent = found ?? agent;
  }
  return agent;
}

const agentNames = (own: readonly OwnAgent[]): string[] => [...AGENT_NAMES, ...own.map(({ name }) => name)];

/** `--agent` with a word that names no agent is Claude's own option. */
const namesAgent = ({ option, value }: ParsedOption, own: readonly OwnAgent[]): boolean =>
  option.name !== 'agent' || (value !== undefined && agentNamed(value, own) !== undefined);

function sortWords(
  words: readonly string[],
  isDirectory: IsDirectory,
  shape: CommandShape | undefined,
  { agent, own }: { readonly agent: Agent; readonly own: readonly OwnAgent[] },
): SortedWords {
  const isExec = shape !== undefined;
  const isKept = shape !== undefined && shape.name !== 'exec';
  const options = shape?.options ?? [];
  const known = new Map([...RUN_BY_NAME, ...optionsByName(options)]);
  const taken: ParsedOption[] = [];
  const forAgent: string[] = [];
  let project: string | undefined;
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? '';
    const option = takeOption(words, i, known);
    if (option !== undefined && isExec && !namesAgent(option, own))
      throw refused.agentUnknown(option.value ?? '', agentNames(own), isExec);
    if (option !== undefined && namesAgent(option, own)) {
      taken.push(option);
      i += option.extraWords;
    } else if (word.startsWith('-') && word !== '-') {
      const read = isExec ? undefined : agent.commandLine.readOption(word);
      if (read === undefined) throw refused.unknownOption(word, { isExec, known: known.keys(), agent });
      forAgent.push(word);
      if ((read.arity === 'one' || read.arity === 'many') && !read.joined) {
        forAgent.push(valueForAgent(words[i + 1], word));
        i++;
      }
    } else if (project === undefined && forAgent.length === 0) {
      if (commandNamed.has(word)) throw refused.commandNotFirst(word);
      if (isDirectory(word)) project = word;
      else if (word.includes(' ') && !isExec) forAgent.push(word);
      else throw isKept ? refused.notProject(shape.name, word) : refused.noSuchFolder(word, isExec, i === 0, agent);
    } else if (shape !== undefined) {
      throw isKept ? refused.tooManyWords(shape.name, word) : refused.execWordBeforeDashes(word);
    } else {
      forAgent.push(word);
    }
  }
  return { taken, project, forAgent };
}

/** The value of an agent's option. A forgotten value must not swallow an option of run-claude that was meant to protect. */
function valueForAgent(word: string | undefined, option: string): string {
  const name = word?.startsWith('--') ? word.slice(2).split('=', 1)[0] : undefined;
  if (word === undefined || (name !== undefined && RUN_BY_NAME.has(name))) {
    throw refused.agentValueMissing(option, word);
  }
  return word;
}

function parseCommand(
  shape: CommandShape,
  argv: readonly string[],
  ofSession: readonly CommandOption[] = [],
): CommandLine {
  const cut = argv.indexOf('--');
  const before = cut === -1 ? argv : argv.slice(0, cut);
  const known = optionsByName([...ofSession, ...shape.options, ...COMMON_OPTIONS]);
  const options = new Map<string, string[]>();
  const words: string[] = [];
  for (let i = 0; i < before.length; i++) {
    const word = before[i] ?? '';
    const taken = takeOption(before, i, known);
    if (taken !== undefined) {
      options.set(taken.option.name, [...(options.get(taken.option.name) ?? []), taken.value ?? '']);
      i += taken.extraWords;
    } else if (word.startsWith('-') && word !== '-') {
      throw refused.unknownCommandOption(shape.name, word, known.keys());
    } else words.push(word);
  }
  const help = options.get('help')?.[0];
  if (help !== undefined) return helpAbout(help === '' ? shape.name : help);
  const unexpected = words[shape.maxWords];
  if (unexpected !== undefined) throw refused.tooManyWords(shape.name, unexpected);
  if (cut !== -1 && shape.rest === undefined) throw refused.wordsAfterDashes(shape.name);
  const rest = cut === -1 ? [] : argv.slice(cut + 1);
  return asRequest({ kind: 'command', name: shape.name, options, words, rest });
}

import type { Agent } from '../../agents/agent.ts';
import { nearest } from '../../core/config/values/nearest.ts';
import { type RunClaudeError, usageError } from '../../core/errors.ts';
import { type CommandOption, optionsByName } from './command-shape.ts';
import { COMMANDS, commandNamed } from './commands.ts';
import { RUN_OPTIONS } from './options.ts';

// Every message about a wrong command line. A mistyped word must not start an agent, so that each of them ends the command.

const afterDashes = ({ title }: Agent): string => `Words for ${title} go after --.`;
const COMMAND_AFTER_DASHES = "The command's words go after --.";
const LIST_COMMANDS = 'run-claude help lists the commands.';

/** 'Did you mean …?' for the candidate nearest to a mistyped word; `otherwise` where none is near. */
function suggestion(word: string, candidates: Iterable<string>, otherwise: string): string {
  const near = nearest(word, candidates);
  return near === undefined ? otherwise : `Did you mean ${near}?`;
}

/** A command of this length with another letter is another word: 'nope' is not meant as 'note'. */
const SHORT_COMMAND = 4;

/** As {@link suggestion}, of a command. */
function commandSuggestion(word: string, before: string): string {
  const near = nearest(word, commandNamed.keys(), word.length <= SHORT_COMMAND ? 2 : 1);
  return near === undefined ? LIST_COMMANDS : `Did you mean ${before}${near}?`;
}

/** `isExec`: after a command such as `exec`, where no option is passed on to an agent. `known`: names of the options there. */
export function unknownOption(
  word: string,
  { isExec, known, agent }: { readonly isExec: boolean; readonly known: Iterable<string>; readonly agent: Agent },
): RunClaudeError {
  const name = nameOf(word);
  const own = [...known].map((one) => `--${one}`);
  // One-letter names are near to every other.
  const names = isExec ? own : [...own, ...agent.commandLine.optionNames].filter((one) => one.length > 2);
  const others = isExec ? 'Options of the command' : `Options of ${agent.title}`;
  return usageError(
    `unknown option ${name}`,
    elsewhere(name) ?? suggestion(name, names, `run-claude help all lists its options. ${others} go after --.`),
  );
}

export function unknownCommandOption(command: string, word: string, known: Iterable<string>): RunClaudeError {
  const name = nameOf(word);
  const names = [...known].map((one) => `--${one}`);
  const hint = elsewhere(name) ?? suggestion(name, names, `List its options with: run-claude ${command} --help`);
  return usageError(`${command}: unknown option ${name}`, hint);
}

/** How many commands a hint names. */
const MAX_OWNERS = 4;

/** Where an option belongs that is unknown here; undefined where nothing has it. */
function elsewhere(name: string): string | undefined {
  const option = name.replace(/^--/, '');
  if (name !== `--${option}`) return undefined;
  if (optionsByName(RUN_OPTIONS).has(option)) return `It belongs to the start of a session: run-claude ${name}`;
  const owners = COMMANDS.filter(({ options }) => optionsByName(options).has(option)).map((shape) => shape.name);
  if (owners.length === 0) return undefined;
  const more = owners.length > MAX_OWNERS ? ` and ${owners.length - MAX_OWNERS} more commands` : '';
  return `It belongs to: ${owners
    .slice(0, MAX_OWNERS)
    .map((owner) => `run-claude ${owner}`)
    .join(', ')}${more}`;
}

/** A session ends with its agent's program: changes that come later would pass no gate. */
export function backgroundUnavailable(option: string, { title }: Agent): RunClaudeError {
  return usageError(
    `${option} behind --: a session ends when the program of ${title} ends, and this one would end at once`,
    'Write it before --: run-claude then has the session in the background.',
  );
}

function nameOf(word: string): string {
  return word.split('=', 1)[0] ?? word;
}

export function valueNotWanted(option: string): RunClaudeError {
  return usageError(`--${option} takes no value`);
}

export function valueEmpty(option: string): RunClaudeError {
  return usageError(`--${option}= needs a value after the =`);
}

/** `next` is the word after the option, which is not its value; `isOption`: it is an option of run-claude. */
export function valueMissing(
  { name, placeholder = 'VALUE' }: Pick<CommandOption, 'name' | 'placeholder'>,
  next: string | undefined,
  isOption: boolean,
): RunClaudeError {
  const hint =
    next === undefined || next === '' || isOption
      ? `Write --${name} ${placeholder}.`
      : `Write --${name} ${placeholder}, or --${name}=${next} where the value begins with a dash.`;
  return usageError(`--${name} needs a value`, hint);
}

/** `next` is the word after an option of the agent: undefined, or an option of run-claude. */
export function agentValueMissing(option: string, next: string | undefined): RunClaudeError {
  const hint = next === undefined ? `Write ${option} VALUE.` : `To pass ${next} as its value: ${option}=${next}`;
  return usageError(`${option} needs a value`, hint);
}

export function commandNotFirst(word: string): RunClaudeError {
  return usageError(
    `'${word}' is a command and has to come first`,
    `Write run-claude ${word} …, or ./${word} for the folder of that name.`,
  );
}

/** The error for a word that names no folder. With `isFirst`, the user may have meant a command. */
export function noSuchFolder(word: string, isExec: boolean, isFirst: boolean, agent: Agent): RunClaudeError {
  if (isExec) return usageError(`no such folder: '${word}'`, COMMAND_AFTER_DASHES);
  if (!isFirst || word.includes('/')) return usageError(`no such folder: '${word}'`, afterDashes(agent));
  const hint = commandSuggestion(word, 'run-claude ');
  return usageError(`'${word}' is neither a command nor a folder`, `${hint} ${afterDashes(agent)}`);
}

export function notProject(command: string, word: string): RunClaudeError {
  return usageError(`${command}: no such folder: '${word}'`, `Its usage: run-claude ${command} --help`);
}

/** `pages`: their names, with their folders. */
export function noSuchTopic(word: string, pages: Iterable<string>): RunClaudeError {
  const names = [...pages].flatMap((name) => name.split('/').at(-1) ?? []);
  const page = word.length > SHORT_COMMAND ? nearest(word, names) : undefined;
  const hint = commandSuggestion(word, 'run-claude help ');
  const nearPage =
    page === undefined ? 'run-claude help pages lists the pages.' : `Did you mean run-claude help ${page}?`;
  return usageError(
    `help: there is no command or page '${word}'`,
    hint === LIST_COMMANDS ? (page === undefined ? `${hint} ${nearPage}` : nearPage) : hint,
  );
}

export function execWithoutCommand(): RunClaudeError {
  return usageError('exec: no command', 'Write run-claude exec [options] [PROJECT] -- COMMAND….');
}

export function execWordBeforeDashes(word: string): RunClaudeError {
  return usageError(`exec: unexpected '${word}' after the project`, COMMAND_AFTER_DASHES);
}

export function tooManyWords(command: string, word: string): RunClaudeError {
  return usageError(`${command}: unexpected '${word}'`, `Its usage: run-claude ${command} --help`);
}

export function wordsAfterDashes(command: string): RunClaudeError {
  return usageError(`${command} takes nothing after --`, `Its usage: run-claude ${command} --help`);
}

export function exclusiveOptions(one: string, other: string): RunClaudeError {
  return usageError(`${one} and ${other} exclude each other`, 'Leave one of them out.');
}

export function autoApplyInBindMode(): RunClaudeError {
  return usageError(
    '--auto-apply works on a copy, --bind on the project itself',
    'Leave one of them out. --auto-apply makes the copy itself.',
  );
}

/** `isExec`: no agent is started, whose own option it could be. */
export function agentUnknown(word: string, names: readonly string[], isExec = false): RunClaudeError {
  const hint = suggestion(word, names, `Write one of: ${names.join(', ')}.`);
  return usageError(
    `--agent: there is no agent '${word}'`,
    isExec ? hint : `${hint} An option of Claude's with that name goes after --.`,
  );
}

export function strategyUnknown(word: string, strategies: readonly string[]): RunClaudeError {
  const hint = suggestion(word, strategies, `Write one of: ${strategies.join(', ')}.`);
  return usageError(`--copy-workspace: '${word}' is not allowed`, hint);
}

export function formUnknown(word: string, forms: readonly string[]): RunClaudeError {
  return usageError(`--dry-run: '${word}' is not allowed`, `Write one of: ${forms.join(', ')}; or no value.`);
}

export function withoutLayerAlone(): RunClaudeError {
  return usageError(
    '--without-layer is for --dry-run=FORM: a session that is started has every layer',
    'Add --dry-run=oci or --dry-run=pod.',
  );
}

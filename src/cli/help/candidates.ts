import { settingNamed } from '../../core/config/settings.ts';
import { type CommandOption, type CommandShape, optionsByName } from '../grammar/command-shape.ts';
import { ALIASES, COMMANDS, COMMON_OPTIONS, commandNamed } from '../grammar/commands.ts';
import { type Option, optionsForEach, REFUSED_OPTIONS, RUN_OPTIONS } from '../grammar/options.ts';

/** A word that can be at the cursor. */
export interface Candidate {
  readonly word: string;
  /** What it means; '' where the word says it. */
  readonly help: string;
}

/** What only the disk has, asked for when it is needed. */
export interface Known {
  /** Ids of sessions, the newest first, each with its project. */
  readonly ids: () => readonly Candidate[];
  /** Pages of the documentation. */
  readonly pages: () => readonly string[];
}

/**
 * The words that can be where the cursor is. None: the shell offers files. Pure except for `known`.
 *
 * @param words those after `run-claude` up to the cursor, the unfinished one last; bash gives the '=' of an option apart
 */
export function candidates(words: readonly string[], known: Known): readonly Candidate[] {
  const prefix = words.at(-1) === '=' ? '' : (words.at(-1) ?? '');
  const typed = words.slice(0, -1);
  if (typed.includes('--')) return [];
  const shape = commandNamed.get(ALIASES.get(typed[0] ?? '') ?? typed[0] ?? '');
  const options = optionsOf(shape);
  const byName = optionsByName(options);
  const joined = /^--([^=]+)=(.*)$/s.exec(prefix);
  if (joined !== null) {
    const [, name = '', begun = ''] = joined;
    return starting(begun, valuesOf(byName.get(name), known)).map(({ word, help }) => ({
      word: `--${name}=${word}`,
      help,
    }));
  }
  const option = optionBefore(words, byName);
  if (option !== undefined) return starting(prefix, valuesOf(option, known));
  if (prefix.startsWith('-')) return starting(prefix, options.flatMap(optionWords));
  if (shape !== undefined) return starting(prefix, wordsOfCommand(shape, plainWords(typed.slice(1), byName), known));
  return typed.length === 0 ? starting(prefix, COMMANDS.map(asCandidate)) : [];
}

const starting = (prefix: string, all: readonly Candidate[]): readonly Candidate[] =>
  all.filter(({ word }) => word.startsWith(prefix));

const asCandidate = ({ name, help }: CommandShape): Candidate => ({ word: name, help });

function optionsOf(shape: CommandShape | undefined): readonly CommandOption[] {
  if (shape === undefined) return RUN_OPTIONS;
  const ofSession = REFUSED_OPTIONS[shape.name] === undefined ? [] : optionsForEach(shape.name);
  return [...shape.options, ...ofSession, ...COMMON_OPTIONS];
}

function optionWords({ name, short, value, help }: CommandOption): readonly Candidate[] {
  const names = short === undefined ? [name] : [short, name];
  return names.flatMap((one) => [
    { word: `--${one}`, help },
    ...(value === 'optional' ? [{ word: `--${one}=`, help }] : []),
  ]);
}

/** The option whose value is at the cursor: `--engine do`, or in bash `--engine = do`. */
function optionBefore(words: readonly string[], byName: ReadonlyMap<string, CommandOption>): CommandOption | undefined {
  const at = words.at(-1) === '=' ? -2 : words.at(-2) === '=' ? -3 : -2;
  const word = words.at(at) ?? '';
  const option = word.startsWith('--') ? byName.get(word.slice(2)) : undefined;
  const isJoined = at === -3 || words.at(-1) === '=';
  return option !== undefined && (option.value === 'needed' || (isJoined && option.value === 'optional'))
    ? option
    : undefined;
}

/** The words that are neither options nor their values. */
function plainWords(words: readonly string[], byName: ReadonlyMap<string, CommandOption>): readonly string[] {
  return words.filter((word, at) => {
    const before = words[at - 1] ?? '';
    const isValue = before.startsWith('--') && byName.get(before.slice(2))?.value === 'needed';
    return !word.startsWith('-') && word !== '=' && before !== '=' && !isValue;
  });
}

/** The choices of a setting's form, or those that the help lists: 'container engine: auto (default), docker, podman'. */
function valuesOf(option: CommandOption | undefined, known: Known): readonly Candidate[] {
  if (option === undefined) return [];
  if (option.placeholder === 'ID') return known.ids();
  const form = settingNamed.get((option as Partial<Option>).setting ?? '')?.form;
  const words = form?.kind === 'choice' && form.isOpen !== true ? form.of : listedIn(option.help);
  return words.map((word) => ({ word, help: '' }));
}

function listedIn(help: string): readonly string[] {
  const list = help.replaceAll(/ *\([^)]*\)/g, '').split(': ')[1] ?? '';
  const words = list.split(', ');
  const choices = words.filter((word) => /^[a-z][\w-]*$/.test(word));
  // A word of a sentence is not a list.
  return choices.length >= words.length - 1 ? choices : [];
}

/** What the usage of a command has at a place: its own words in small letters, and values in capitals. */
function wordsOfCommand({ usage }: CommandShape, before: readonly string[], known: Known): readonly Candidate[] {
  const forms = usage.split(/ -- | \[-- /)[0]?.split(' | ') ?? [];
  const found = forms.flatMap((form) => {
    const parts = form.split(' ').filter((part) => part !== '' && part !== '[options]');
    const fits = before.every((word, at) => isPlaceOf(parts[at], word));
    const part = parts[before.length] ?? (parts.at(-1)?.includes('…') === true ? parts.at(-1) : undefined);
    return fits && part !== undefined ? wordsOfPart(part, known) : [];
  });
  return found.filter(({ word }) => !before.includes(word));
}

const alternatives = (part: string): readonly string[] => part.replaceAll(/[[\]…]/g, '').split('|');

/** Whether a word that was typed is the value, or one of the words, that the usage has there. */
function isPlaceOf(part: string | undefined, word: string): boolean {
  return part === undefined || alternatives(part).some((one) => one === word || /^[A-Z]/.test(one));
}

function wordsOfPart(part: string, known: Known): readonly Candidate[] {
  return alternatives(part).flatMap((one) => {
    if (one === 'ID') return known.ids();
    if (one === 'COMMAND') return COMMANDS.map(asCandidate);
    if (one === 'PAGE') return known.pages().map((word) => ({ word, help: '' }));
    return /^[a-z]/.test(one) ? [{ word: one, help: '' }] : [];
  });
}

import type { FlagValue } from '../../config/merge-policy.ts';
import { nearest } from '../../config/nearest.ts';
import { usageError } from '../../errors.ts';
import type { Program } from '../../types/plan.ts';
import { asksForPrint, CLAUDE_OPTIONS, readClaudeOption } from './claude-options.ts';
import { COMMON_OPTIONS, type CommandOption, type CommandShape, commandNamed } from './commands.ts';
import { RUN_OPTIONS } from './options.ts';
import { type Taken, takeOption } from './take-option.ts';

/** What a session is asked for. */
export interface RunLine {
  readonly kind: 'run';
  readonly action: 'run' | 'dry-run' | 'check';
  /** As typed; undefined: the current directory. */
  readonly project: string | undefined;
  readonly program: Program;
  readonly flags: readonly FlagValue[];
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
  | { readonly kind: 'help'; readonly command: string | undefined }
  | { readonly kind: 'version' }
  | RunLine
  | CommandLineOfCommand;

/** The only question that the grammar asks the disk. */
export type IsDirectory = (word: string) => boolean;

const RUN_BY_NAME: ReadonlyMap<string, CommandOption> = new Map(RUN_OPTIONS.map((option) => [option.name, option]));

/**
 * The words after `run-claude` as one request (docs/reference/command-line.md, "Grammar"). Pure but for `isDirectory`. Throws
 * usageError for anything that is not clearly ours, the project or Claude's: a typo must not start an agent.
 */
export function parseCommandLine(argv: readonly string[], isDirectory: IsDirectory): CommandLine {
  const [first, ...others] = argv;
  if (first === '--gc') return parseCommand(commandShape('gc'), others);
  const shape = first === undefined ? undefined : commandNamed.get(first);
  if (shape === undefined) return parseSession(argv, isDirectory, undefined);
  return shape.name === 'exec' ? parseSession(others, isDirectory, shape) : parseCommand(shape, others);
}

/** `help` and `version`, which are options of a session too. */
function asRequest(line: CommandLineOfCommand): CommandLine {
  if (line.name === 'version') return { kind: 'version' };
  if (line.name !== 'help') return line;
  const [command] = line.words;
  if (command !== undefined && !commandNamed.has(command)) {
    const near = nearest(command, commandNamed.keys());
    throw usageError(
      `help: there is no command '${command}'`,
      near === undefined ? 'run-claude help lists the commands.' : `Did you mean run-claude help ${near}?`,
    );
  }
  return { kind: 'help', command };
}

function commandShape(name: string): CommandShape {
  const shape = commandNamed.get(name);
  if (shape === undefined) throw new TypeError(`no command ${name}`);
  return shape;
}

/** Words of a session, sorted into ours, the project, and the program's. */
interface Sorted {
  readonly taken: readonly Taken[];
  readonly project: string | undefined;
  readonly forClaude: readonly string[];
}

function parseSession(argv: readonly string[], isDirectory: IsDirectory, exec: CommandShape | undefined): CommandLine {
  const cut = argv.indexOf('--');
  const before = cut === -1 ? argv : argv.slice(0, cut);
  const rest = cut === -1 ? [] : argv.slice(cut + 1);
  const sorted = sortWords(before, isDirectory, exec !== undefined);
  const has = (name: string): boolean => sorted.taken.some((taken) => taken.option.name === name);
  if (has('help')) return { kind: 'help', command: exec?.name };
  if (has('version')) return { kind: 'version' };
  if (exec !== undefined && rest.length === 0) {
    throw usageError('exec: no command', 'Write run-claude exec [options] [PROJECT] -- COMMAND….');
  }
  if (exec !== undefined && has('shell')) throw usageError('--shell and exec exclude each other');
  const words = [...sorted.forClaude, ...rest];
  const program: Program =
    exec !== undefined
      ? { kind: 'exec', argv: rest }
      : has('shell')
        ? { kind: 'shell', args: words }
        : { kind: 'claude', args: words, print: asksForPrint(sorted.forClaude) || asksForPrint(rest) };
  return {
    kind: 'run',
    action: has('check') ? 'check' : has('dry-run') ? 'dry-run' : 'run',
    project: sorted.project,
    program,
    flags: [...modeFlags(sorted.taken, program), ...settingFlags(sorted.taken)],
  };
}

function sortWords(words: readonly string[], isDirectory: IsDirectory, exec: boolean): Sorted {
  const taken: Taken[] = [];
  const forClaude: string[] = [];
  let project: string | undefined;
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? '';
    const ours = takeOption(words, i, RUN_BY_NAME);
    if (ours !== undefined) {
      taken.push(ours);
      i += ours.extraWords;
    } else if (word.startsWith('-') && word !== '-') {
      const claude = exec ? undefined : readClaudeOption(word);
      if (claude === undefined) throw unknownOption(word, exec);
      forClaude.push(word);
      if ((claude.arity === 'one' || claude.arity === 'many') && !claude.joined) {
        forClaude.push(valueForClaude(words[i + 1], word));
        i++;
      }
    } else if (project === undefined && forClaude.length === 0) {
      if (commandNamed.has(word)) throw commandTooLate(word);
      if (isDirectory(word)) project = word;
      else if (word.includes(' ') && !exec) forClaude.push(word);
      else throw noSuchFolder(word, exec, i === 0);
    } else if (exec) {
      throw usageError(`exec: '${word}' after the project`, "The command's words go after --.");
    } else {
      forClaude.push(word);
    }
  }
  return { taken, project, forClaude };
}

/** A value that is forgotten must not swallow an option of ours that was meant to protect. */
function valueForClaude(word: string | undefined, option: string): string {
  const name = word?.startsWith('--') ? word.slice(2).split('=', 1)[0] : undefined;
  if (word === undefined || (name !== undefined && RUN_BY_NAME.has(name))) {
    throw usageError(`${option} needs a value`, word === undefined ? undefined : `Or write ${option}=${word}.`);
  }
  return word;
}

function unknownOption(word: string, exec: boolean): Error {
  const name = word.split('=', 1)[0] ?? word;
  const ours = RUN_OPTIONS.map((option) => `--${option.name}`);
  const near = nearest(name, exec ? ours : [...ours, ...CLAUDE_OPTIONS.keys()].filter((known) => known.length > 2));
  return usageError(
    `unknown option ${name}`,
    near === undefined
      ? `run-claude --help lists ours; ${exec ? "the command's" : "Claude's"} can go after --.`
      : `Did you mean ${near}?`,
  );
}

function commandTooLate(word: string): Error {
  return usageError(`'${word}' is a command and comes first`, `Write run-claude ${word} …; the folder is ./${word}.`);
}

function noSuchFolder(word: string, exec: boolean, isFirst: boolean): Error {
  if (exec) return usageError(`no such folder: '${word}'`, "The command's words go after --.");
  if (!isFirst || word.includes('/')) {
    return usageError(`no such folder: '${word}'`, 'Words for Claude go after --.');
  }
  const near = nearest(word, commandNamed.keys());
  const hint = near === undefined ? 'run-claude help lists the commands.' : `Did you mean run-claude ${near}?`;
  return usageError(`'${word}' is neither a command nor a folder`, `${hint} Words for Claude go after --.`);
}

const STRATEGIES = ['auto', 'layers', 'volume', 'copy', 'overlay'];

/** Rule 4: which flags mean copy mode, which bind mode. */
function modeFlags(taken: readonly Taken[], program: Program): FlagValue[] {
  const copy = taken.filter(({ option }) => option.name === 'copy-workspace').at(-1);
  const bind = taken.some(({ option }) => option.name === 'bind');
  const autoApply = taken.some(({ option }) => option.name === 'auto-apply');
  if (bind && copy !== undefined) throw usageError('--bind and --copy-workspace exclude each other');
  if (bind && autoApply) throw usageError('--auto-apply works on a copy, --bind on the project itself');
  const flags: FlagValue[] = [];
  const how = copy?.value;
  if (how === 'shallow') flags.push({ flag: '--copy-workspace=shallow', setting: 'shallow', value: true });
  else if (how !== undefined && STRATEGIES.includes(how)) {
    flags.push({ flag: `--copy-workspace=${how}`, setting: 'strategy', value: how });
  } else if (how !== undefined) {
    const near = nearest(how, [...STRATEGIES, 'shallow']);
    throw usageError(
      `--copy-workspace: '${how}' is not allowed`,
      near === undefined ? `Write one of: ${STRATEGIES.join(', ')}, shallow.` : `Did you mean ${near}?`,
    );
  }
  const implied =
    copy !== undefined
      ? '--copy-workspace'
      : autoApply
        ? '--auto-apply'
        : program.kind === 'exec'
          ? 'exec'
          : program.kind === 'claude' && program.print
            ? '--print'
            : undefined;
  if (bind) flags.push({ flag: '--bind', setting: 'mode', value: 'bind' });
  else if (implied !== undefined) flags.push({ flag: implied, setting: 'mode', value: 'copy' });
  return flags;
}

function settingFlags(taken: readonly Taken[]): FlagValue[] {
  const flags: FlagValue[] = [];
  for (const option of RUN_OPTIONS) {
    const values = taken.filter((one) => one.option.name === option.name).map((one) => one.value);
    if (values.length === 0 || option.setting === undefined || option.setting === '') continue;
    const texts = values.filter((value) => value !== undefined);
    const flag = `--${option.name}`;
    if (texts.length < values.length) flags.push({ flag, setting: option.setting, value: option.sets ?? true });
    else flags.push({ flag, setting: option.setting, value: option.many ? texts : (texts.at(-1) ?? '') });
  }
  return flags;
}

function parseCommand(shape: CommandShape, argv: readonly string[]): CommandLine {
  const cut = argv.indexOf('--');
  const before = cut === -1 ? argv : argv.slice(0, cut);
  const known = new Map([...shape.options, ...COMMON_OPTIONS].map((option) => [option.name, option]));
  const options = new Map<string, string[]>();
  const words: string[] = [];
  for (let i = 0; i < before.length; i++) {
    const word = before[i] ?? '';
    const taken = takeOption(before, i, known);
    if (taken !== undefined) {
      options.set(taken.option.name, [...(options.get(taken.option.name) ?? []), taken.value ?? '']);
      i += taken.extraWords;
    } else if (word.startsWith('-') && word !== '-') {
      const near = nearest(
        word,
        [...known.keys()].map((name) => `--${name}`),
      );
      const hint = near === undefined ? `run-claude ${shape.name} --help` : `Did you mean ${near}?`;
      throw usageError(`${shape.name}: unknown option ${word.split('=', 1)[0]}`, hint);
    } else words.push(word);
  }
  if (options.has('help')) return { kind: 'help', command: shape.name };
  if (words.length > shape.maxWords) throw usageError(`${shape.name}: '${words[shape.maxWords]}' is one word too many`);
  if (cut !== -1 && shape.rest === undefined) throw usageError(`${shape.name} takes nothing after --`);
  const rest = cut === -1 ? [] : argv.slice(cut + 1);
  return asRequest({ kind: 'command', name: shape.name, options, words, rest });
}

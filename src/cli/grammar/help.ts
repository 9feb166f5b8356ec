import { EXIT_STATUSES } from '../../core/errors.ts';
import type { CommandOption, CommandShape } from './command-shape.ts';
import { COMMANDS, COMMON_OPTIONS, commandNamed, WHOLE_HELP } from './commands.ts';
import { COMMAND_GROUPS, EXAMPLE_OF_COMMAND, FIRST_EXAMPLES, FIRST_OPTIONS } from './first-screen.ts';
import { type Option, REFUSED_OPTIONS, RUN_OPTIONS } from './options.ts';

/** Where descriptions start. */
const COLUMN = 30;
const MAX_COLUMNS = 80;
/** Columns of the examples and of the groups of commands on the first screen. */
const EXAMPLE_COLUMNS = 40;
const GROUP_COLUMNS = 10;

/**
 * The text of `run-claude --help`, of `--help=all`, or of `run-claude COMMAND --help`. Lines end at column 80.
 *
 * @param topic the name of a command, {@link WHOLE_HELP}, or undefined for the first screen
 */
export function helpText(topic: string | undefined): string {
  if (topic === WHOLE_HELP) return wholeHelp();
  const shape = topic === undefined ? undefined : commandNamed.get(topic);
  return shape === undefined ? firstScreen() : commandHelp(shape);
}

function firstScreen(): string {
  const options = FIRST_OPTIONS.flatMap((name) => RUN_OPTIONS.find((option) => option.name === name) ?? []);
  return [
    'run-claude runs Claude Code, or another agent, in a sandbox. You see what it',
    'changed before you apply it.',
    '',
    ...FIRST_EXAMPLES.map(([command, purpose]) => `  ${command.padEnd(EXAMPLE_COLUMNS)}${purpose}`),
    '',
    'Options (all of them: run-claude help all)',
    ...options.map((option) => optionLine({ ...option, help: briefly(option.help), value: briefValue(option) })),
    '',
    'Commands (run-claude help COMMAND: its options; help pages: the documentation)',
    ...Object.entries(COMMAND_GROUPS).map(([group, names]) => `  ${group.padEnd(GROUP_COLUMNS)}${names.join(' ')}`),
    '',
  ].join('\n');
}

/** A description up to its first detail. */
const briefly = (help: string): string => help.split(/: |, | \(/)[0] ?? help;

/** A value that can be left out is part of the whole help. */
const briefValue = ({ value }: CommandOption): CommandOption['value'] => (value === 'optional' ? 'none' : value);

function commandHelp(shape: CommandShape): string {
  const refused = REFUSED_OPTIONS[shape.name];
  const own = refused === undefined ? [...shape.options, ...COMMON_OPTIONS] : shape.options;
  const ofSession = refused === undefined ? [] : sessionOptions(({ name }) => !refused.includes(name));
  return [
    `Example: ${EXAMPLE_OF_COMMAND[shape.name as keyof typeof EXAMPLE_OF_COMMAND]}`,
    '',
    `run-claude ${shape.name} ${shape.usage}`.trimEnd(),
    `  ${shape.help}`,
    '',
    ...(own.length === 0 ? [] : [...own.map(optionLine), '']),
    ...ofSession,
  ].join('\n');
}

function wholeHelp(): string {
  return [
    'run-claude [options] [PROJECT] [agent arguments…] [-- agent arguments…]',
    'run-claude COMMAND [options] …',
    '',
    'Runs Claude Code, or the agent of --agent, in a sandbox. Options of the agent',
    'itself are passed on.',
    '',
    ...sessionOptions(),
    'Commands (run-claude COMMAND --help lists the options of one)',
    ...COMMANDS.map(({ name, usage, help }) => twoColumns(`${name} ${usage.split(' -- ')[0]}`.trimEnd(), help)),
    '',
    "Exit status (otherwise the agent's own)",
    ...EXIT_STATUSES.map(([statuses, meaning]) => `  ${statuses.join(', ').padEnd(10)}${meaning}`),
    '',
  ].join('\n');
}

function sessionOptions(shown: (option: Option) => boolean = () => true): string[] {
  const lines: string[] = [];
  for (const group of new Set(RUN_OPTIONS.map((option) => option.group))) {
    const options = RUN_OPTIONS.filter((option) => option.group === group && shown(option));
    lines.push(group, ...options.map(optionLine), '');
  }
  return lines;
}

/** As they are typed: '--copy, --copy-workspace'. */
export function optionNames({ name, short }: Pick<CommandOption, 'name' | 'short'>): string {
  return short === undefined ? `--${name}` : `--${short}, --${name}`;
}

function optionLine(option: CommandOption): string {
  const { value, placeholder = '', help } = option;
  const shown = value === 'needed' ? ` ${placeholder}` : value === 'optional' ? `[=${placeholder}]` : '';
  return twoColumns(`${optionNames(option)}${shown}`, help);
}

/** A name and its description side by side; a description that does not fit continues below itself. */
function twoColumns(left: string, right: string): string {
  const [first = '', ...others] = wrap(right, MAX_COLUMNS - COLUMN);
  const indented = (text: string): string => ' '.repeat(COLUMN) + text;
  const head = left.length > COLUMN - 4 ? [`  ${left}`, indented(first)] : [`  ${left.padEnd(COLUMN - 2)}${first}`];
  return [...head, ...others.map(indented)].join('\n');
}

function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= columns) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

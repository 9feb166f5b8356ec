import { COMMANDS, COMMON_OPTIONS, type CommandOption, commandNamed } from './commands.ts';
import { EXIT_STATUSES } from './exit-statuses.ts';
import { type Option, REFUSED_OPTIONS, RUN_OPTIONS } from './options.ts';

/** Where descriptions start. */
const COLUMN = 30;
const MAX_COLUMNS = 80;

/** The text of `run-claude --help`, or of `run-claude COMMAND --help`. Lines end at column 80. */
export function helpText(command: string | undefined): string {
  const shape = command === undefined ? undefined : commandNamed.get(command);
  if (shape === undefined) return mainHelp();
  const lines = [`run-claude ${shape.name} ${shape.usage}`.trimEnd(), `  ${shape.help}`, ''];
  const refused = REFUSED_OPTIONS[shape.name];
  if (refused !== undefined) {
    const own = shape.options.length === 0 ? [] : [...shape.options.map(optionLine), ''];
    return [...lines, ...own, ...sessionOptions(({ name }) => !refused.includes(name))].join('\n');
  }
  return [...lines, ...[...shape.options, ...COMMON_OPTIONS].map(optionLine), ''].join('\n');
}

function mainHelp(): string {
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

import { COMMANDS, COMMON_OPTIONS, type CommandOption, commandNamed } from './commands.ts';
import { EXIT_STATUSES } from './exit-statuses.ts';
import { type Option, RUN_OPTIONS } from './options.ts';

const COLUMN = 30;

/** The text of `run-claude --help`, or of one command's. */
export function helpText(command: string | undefined): string {
  const shape = command === undefined ? undefined : commandNamed.get(command);
  if (shape === undefined) return mainHelp();
  const lines = [`run-claude ${shape.name} ${shape.usage}`.trimEnd(), `  ${shape.help}`, ''];
  if (shape.name === 'exec') return [...lines, ...sessionOptions((option) => option.name !== 'shell')].join('\n');
  return [...lines, ...[...shape.options, ...COMMON_OPTIONS].map(optionLine), ''].join('\n');
}

function mainHelp(): string {
  return [
    'run-claude [options] [PROJECT] [claude arguments…] [-- claude arguments…]',
    'run-claude COMMAND [options] …',
    '',
    'Runs Claude Code in a sandbox. Options of Claude itself are passed on.',
    '',
    ...sessionOptions(),
    'Commands',
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

function optionLine(option: CommandOption): string {
  const { name, value, placeholder = '', help } = option;
  const shown = value === 'needed' ? ` ${placeholder}` : value === 'optional' ? `[=${placeholder}]` : '';
  return twoColumns(`--${name}${shown}`, help);
}

function twoColumns(left: string, right: string): string {
  return left.length > COLUMN - 3 ? `  ${left}\n${' '.repeat(COLUMN)}${right}` : `  ${left.padEnd(COLUMN - 2)}${right}`;
}

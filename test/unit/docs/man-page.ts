import type { CommandOption } from '../../../src/cli/grammar/command-shape.ts';
import { COMMANDS, COMMON_OPTIONS } from '../../../src/cli/grammar/commands.ts';
import { EXAMPLE_OF_COMMAND, FIRST_EXAMPLES } from '../../../src/cli/grammar/first-screen.ts';
import { optionNames } from '../../../src/cli/grammar/help.ts';
import { REFUSED_OPTIONS, RUN_OPTIONS } from '../../../src/cli/grammar/options.ts';
import { EXIT_STATUSES } from '../../../src/core/errors.ts';

/** Text of roff: no line begins a request, and a hyphen can be copied. */
const roff = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('…', '...')
    .replace(/^([.'])/, '\\&$1');

const entry = (term: string, text: string): string => `.TP\n\\fB${roff(term)}\\fR\n${roff(text)}`;

const optionEntry = ({ value, placeholder = '', help, ...names }: CommandOption): string =>
  entry(
    `${optionNames(names)}${value === 'needed' ? ` ${placeholder}` : value === 'optional' ? `[=${placeholder}]` : ''}`,
    help,
  );

/** run-claude(1), from the tables of the command line. */
export function manPage(): string {
  const groups = [...new Set(RUN_OPTIONS.map(({ group }) => group))].flatMap((group) => [
    `.SS ${group}`,
    ...RUN_OPTIONS.filter((option) => option.group === group).map(optionEntry),
  ]);
  const commands = COMMANDS.flatMap(({ name, usage, help, options }) => [
    `.SS ${roff(`${name} ${usage}`.trimEnd())}`,
    `${roff(help)}. Example: ${roff(EXAMPLE_OF_COMMAND[name as keyof typeof EXAMPLE_OF_COMMAND])}`,
    ...(REFUSED_OPTIONS[name] === undefined ? [] : ['It also takes the options of a session.']),
    ...options.map(optionEntry),
  ]);
  return [
    '.\\" Written by npm run generate.',
    '.TH RUN\\-CLAUDE 1',
    '.SH NAME',
    'run\\-claude \\- run coding agents in a sandbox, and see what they changed before it is applied',
    '.SH SYNOPSIS',
    '\\fBrun\\-claude\\fR [options] [PROJECT] [agent arguments...] [\\-\\- agent arguments...]',
    '.br',
    '\\fBrun\\-claude\\fR COMMAND [options] ...',
    '.SH EXAMPLES',
    ...FIRST_EXAMPLES.map(([command, purpose]) => entry(command, purpose)),
    '.SH OPTIONS OF A SESSION',
    ...groups,
    '.SH COMMANDS',
    'Every command also takes:',
    ...COMMON_OPTIONS.map(optionEntry),
    ...commands,
    '.SH EXIT STATUS',
    ...EXIT_STATUSES.map(([statuses, meaning]) => entry(statuses.join(', '), meaning)),
    "Otherwise the agent's own.",
    '.SH SEE ALSO',
    '\\fBrun\\-claude help pages\\fR lists the documentation.',
    '',
  ].join('\n');
}

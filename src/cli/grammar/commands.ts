import type { Option } from './options.ts';

/** One command, as the grammar and the help see it. Its work is in commands/<name>.ts. */
export interface CommandShape {
  readonly name: string;
  /** What follows the name, for the help. */
  readonly usage: string;
  readonly help: string;
  readonly options: readonly CommandOption[];
  /** Plain words that it takes at most, apart from those after `--`. */
  readonly maxWords: number;
  /** Takes words after `--`. */
  readonly rest?: true;
}

export type CommandOption = Pick<Option, 'name' | 'value' | 'help' | 'many' | 'placeholder'>;

const flag = (name: string, help: string): CommandOption => ({ name, value: 'none', help });
const value = (name: string, placeholder: string, help: string): CommandOption => ({
  name,
  value: 'needed',
  placeholder,
  help,
});
const JSON_OPTION = flag('json', 'as JSON');
const YES = flag('yes', 'without a question');
const ENGINE = value('engine', 'NAME', 'auto, docker, podman');
const ONLY: CommandOption = { name: 'only', value: 'needed', placeholder: 'GLOB', help: 'these paths', many: true };
const ALLOW_SUSPECT: CommandOption = {
  name: 'allow-suspect',
  value: 'needed',
  placeholder: 'GLOB',
  help: 'suspect changes of these paths count as clean',
  many: true,
};
const SKIP: CommandOption = { name: 'skip', value: 'needed', placeholder: 'GLOB', help: 'not these paths', many: true };
const INCLUDE_IGNORED: CommandOption = {
  name: 'include-ignored',
  value: 'optional',
  placeholder: 'GLOB',
  help: 'also withheld files that the session un-ignores or moved',
  many: true,
};

const command = (
  name: string,
  usage: string,
  help: string,
  options: readonly CommandOption[],
  maxWords: number,
  rest?: true,
): CommandShape => ({ name, usage, help, options, maxWords, ...(rest === undefined ? {} : { rest }) });

/** Every command, in the order of the help. `exec` takes the options of a session besides; `help` and `version` are requests of the grammar. */
export const COMMANDS: readonly CommandShape[] = [
  command('exec', '[options] [PROJECT] -- COMMAND…', 'run any program in the sandbox, on a copy', [], 1, true),
  command(
    'sessions',
    '[PROJECT]',
    "every project's sessions, newest first",
    [flag('all', 'with those that changed nothing'), JSON_OPTION],
    1,
  ),
  command(
    'status',
    '[ID]',
    'what a session changed, what is applied and what is left',
    [value('report', 'FILE', 'write its report (.json, .sarif, .md)'), JSON_OPTION],
    1,
  ),
  command(
    'diff',
    '[ID] [-- PATH…]',
    'the changes of a session',
    [
      flag('stat', 'lines added and removed, by file'),
      flag('name-only', 'names only'),
      flag('side-by-side', 'old and new in two columns'),
      flag('follow', 'each change as it happens, while the session runs'),
      JSON_OPTION,
    ],
    1,
    true,
  ),
  command('stop', '[ID]', 'end a running session, keep its changes', [], 1),
  command(
    'apply',
    '[ID]',
    "bring a session's changes to the project",
    [
      flag('dry-run', 'say what would be done'),
      ONLY,
      SKIP,
      ALLOW_SUSPECT,
      INCLUDE_IGNORED,
      value('conflict', 'HOW', 'keep, theirs, markers or file (default: ask, or keep)'),
      flag('yes', 'no question for what is clean'),
      JSON_OPTION,
    ],
    1,
  ),
  command('discard', '[ID]', "throw a session's changes away", [YES], 1),
  command('undo', '[ID]', 'undo the last apply', [flag('dry-run', 'say what would be done'), YES, JSON_OPTION], 1),
  command(
    'commits',
    '[ID]',
    'commits made inside',
    [
      flag('import', 'as refs of the repository'),
      value('branch', 'NAME', 'with --import: and as a new branch'),
      { ...ALLOW_SUSPECT, help: 'with --import: suspect changes of these paths need no yes' },
      JSON_OPTION,
    ],
    1,
  ),
  command('resume', '[ID] [-- claude arguments…]', 'go on where a session ended', [], 1, true),
  command('explore', '[ID]', "a shell in a throw-away layer over the session's", [], 1),
  command('note', '[ID] TEXT', 'remember something with a session', [], 2),
  command(
    'audit',
    '[PATH | ID] [--base REF]',
    'what the gate says of a branch or a session',
    [
      value('base', 'REF', 'what HEAD changed since REF (or A..B); reads commits only'),
      flag('rules', 'list the rules'),
      value('fail-on', 'LEVEL', 'exit 121 from this severity on'),
      value('report', 'FILE', 'write the findings (.json, .sarif, .md)'),
      JSON_OPTION,
    ],
    1,
  ),
  command(
    'network',
    '[ID] | allow HOST',
    'what a session asked the gateway for',
    [flag('suggest', 'options that would let refused requests pass'), JSON_OPTION],
    3,
  ),
  command('projects', '', "Claude's data, by project", [JSON_OPTION], 0),
  command(
    'gc',
    '',
    'remove what no session needs',
    [flag('dry-run', 'print what would be removed'), YES, JSON_OPTION],
    0,
  ),
  command('config', '[PROJECT]', 'the effective settings, each with its origin', [JSON_OPTION], 1),
  command(
    'build',
    '',
    'build the image',
    [flag('rebuild', 'build it again even when it exists'), flag('toolchain', 'with compilers'), ENGINE, JSON_OPTION],
    0,
  ),
  command(
    'doctor',
    '',
    'check what a session needs; say what to do',
    [
      flag('probe', 'attack a sandbox on this engine, print what got through'),
      flag('verbose', 'with --probe: print every attack'),
      value('runtime', 'NAME', "with --probe: another of the engine's runtimes"),
      ENGINE,
      JSON_OPTION,
    ],
    0,
  ),
  command('help', '[COMMAND]', 'this text, or the options of a command', [], 1),
  command('version', '', 'the versions', [], 0),
];

/** Options that every command takes. */
export const COMMON_OPTIONS: readonly CommandOption[] = [
  flag('quiet', 'say less'),
  flag('trace', 'say everything that is done'),
  flag('help', 'this text'),
];

/** Command by name; `--gc` is an alias of `gc`. */
export const commandNamed: ReadonlyMap<string, CommandShape> = new Map(COMMANDS.map((shape) => [shape.name, shape]));

import {
  ALLOW_SUSPECT,
  type CommandOption,
  type CommandShape,
  command,
  ENGINE,
  flag,
  JSON_OPTION,
  ON,
  value,
  YES,
} from './command-shape.ts';
import { SESSION_COMMANDS } from './session-commands.ts';

/**
 * Every command, in the order of the help. `exec` also takes the options of a session. The grammar itself answers `help`
 * and `version`.
 */
export const COMMANDS: readonly CommandShape[] = [
  command(
    'exec',
    '[options] [PROJECT] -- COMMAND…',
    'run any program in the sandbox, on a copy',
    [value('session', 'ID', 'run it in this running session instead (default on a terminal: a shell)')],
    0,
    true,
  ),
  command(
    'batch',
    '[options] FILE [-- agent arguments…]',
    'run the tasks of a file side by side: one prompt a line, or JSON lines',
    [
      value('jobs', 'N', 'number of sessions at a time (default: by processors and memory)'),
      { name: 'again', value: 'optional', placeholder: 'WHICH', help: 'repeat the failed tasks too; all: every task' },
      flag('dry-run', 'list what each task would do, start nothing'),
      flag('review', 'ask about its pending sessions one after the other; without FILE, those of the project'),
      JSON_OPTION,
    ],
    1,
    true,
  ),
  command('shell', '[ID]', 'open a shell in a running session, next to its agent', [], 1),
  command(
    'up',
    '[options] [PROJECT]',
    'start a session without an agent, for commands that come and go',
    [JSON_OPTION],
    1,
  ),
  command(
    'down',
    '[ID]',
    'end a session of `up`, and review its changes',
    [flag('auto-apply', 'apply clean changes without a question'), ALLOW_SUSPECT],
    1,
  ),
  command(
    'mcp',
    'serve [PROJECT] | list | add|remove|login|logout NAME [-- ARG…]',
    'serve a session to an MCP client; servers for the agent, logins outside',
    [
      value('url', 'URL', 'with add: the address of the server, https://HOST/PATH'),
      value('from', 'COMMAND', 'with add: a command of the shell here that prints its login'),
      value('header', 'NAME', 'with add: the header for the login (default Authorization)'),
      flag('oauth', 'with add: its login is in a browser, by `mcp login`'),
      value('client-id', 'ID', 'with login: a client that you registered (default: register one)'),
      value('scope', 'SCOPES', 'with login: what to ask for (default: what the server names)'),
      value('tool', 'NAME', 'with add: a tool that may be called (default: all), repeatable'),
      value('directory', 'DIR', 'with add: where PROGRAM is started, in its own container; read-only'),
      value('secret', 'NAME=COMMAND', 'with add: a variable of PROGRAM, printed by a command here, repeatable'),
      value('host', 'HOST[:PORT]', 'with add: a host that PROGRAM can reach (default: none), repeatable'),
      JSON_OPTION,
    ],
    2,
    true,
  ),
  command(
    'plugin',
    'passthrough | path | hook | serve',
    'what runs outside the copy of the plugin, its folder, and parts that it starts',
    [],
    1,
  ),
  ...SESSION_COMMANDS,
  command('projects', '', "list Claude's data, by project", [JSON_OPTION], 0),
  command(
    'cache',
    '[rm CACHE…]',
    'list the caches of packages, or remove some',
    [flag('all', 'with rm: every cache'), JSON_OPTION],
    50,
  ),
  command(
    'gc',
    '',
    'remove what no session needs',
    [flag('dry-run', 'print what would be removed'), YES, JSON_OPTION],
    0,
  ),
  command(
    'config',
    '[PROJECT] | set NAME VALUE… | unset NAME',
    'print the effective settings with their origins; set or remove one of yours',
    [flag('schema', 'print the JSON Schema of config.toml, for editors'), JSON_OPTION],
    50,
  ),
  command(
    'completion',
    'bash|zsh|fish',
    'print what makes this shell complete commands, options, values and ids',
    [],
    1,
    true,
  ),
  command(
    'build',
    '',
    'build the image',
    [
      flag('rebuild', 'rebuild the image even when it exists'),
      flag('without-certificates', "leave this machine's certificate authorities out"),
      value('claude-version', 'VERSION', 'use this release of Claude Code, or the latest'),
      flag('toolchain', 'include compilers'),
      ENGINE,
      ON,
      JSON_OPTION,
    ],
    0,
  ),
  command(
    'doctor',
    '',
    'check what a session needs and how to fix it',
    [
      flag('probe', 'attack a sandbox on this engine, print what got through'),
      flag('verbose', 'with --probe: print every attack'),
      value('runtime', 'NAME', 'with --probe: use this runtime of the engine'),
      value('agent', 'NAME', 'check what sessions with this agent need'),
      ENGINE,
      value('on', 'NAME', 'use this engine of your configuration; or slurm:PARTITION, or k8s:CONTEXT'),
      JSON_OPTION,
    ],
    0,
  ),
  command(
    'help',
    '[COMMAND | PAGE | pages | all]',
    'print a command, a page of the documentation, or everything',
    [],
    1,
  ),
  command('version', '', 'print the versions', [], 0),
];

/** What `--help` and `help` take apart from the name of a command: every option and command. */
export const WHOLE_HELP = 'all';

/** Options that every command takes. */
export const COMMON_OPTIONS: readonly CommandOption[] = [
  flag('quiet', 'print less'),
  flag('trace', 'print every step'),
  { name: 'help', value: 'optional', placeholder: 'all', help: 'print this help; all: every option and command' },
];

/** Other words for a command: the form of an option, and the word that Claude Code has for it. */
export const ALIASES: ReadonlyMap<string, string> = new Map([
  ['--gc', 'gc'],
  ['logs', 'log'],
]);

/** Command by name. */
export const commandNamed: ReadonlyMap<string, CommandShape> = new Map(COMMANDS.map((shape) => [shape.name, shape]));

import type { Option } from './options.ts';

/** One command, for the grammar and the help. src/cli/commands/ and its folders have a file for each. */
export interface CommandShape {
  readonly name: string;
  /** What follows the name, for the help. */
  readonly usage: string;
  readonly help: string;
  readonly options: readonly CommandOption[];
  /** The most plain words that it takes, not counting those after `--`. */
  readonly maxWords: number;
  /** Takes words after `--`. */
  readonly rest?: true;
}

export type CommandOption = Pick<Option, 'name' | 'short' | 'value' | 'help' | 'many' | 'placeholder'>;

/** Options by their names, the short ones too. */
export function optionsByName(options: readonly CommandOption[]): ReadonlyMap<string, CommandOption> {
  return new Map(
    options.flatMap((option) => [
      [option.name, option] as const,
      ...(option.short === undefined ? [] : [[option.short, option] as const]),
    ]),
  );
}

const flag = (name: string, help: string): CommandOption => ({ name, value: 'none', help });
const value = (name: string, placeholder: string, help: string): CommandOption => ({
  name,
  value: 'needed',
  placeholder,
  help,
});
const JSON_OPTION = flag('json', 'print JSON');
const YES = flag('yes', 'do not ask');
const ENGINE = value('engine', 'NAME', 'container engine: auto (default), docker, podman');
const ON = value('on', 'NAME', 'use this engine of your configuration');
const ONLY: CommandOption = {
  name: 'only',
  value: 'needed',
  placeholder: 'GLOB',
  help: 'apply only these paths',
  many: true,
};
const ALLOW_SUSPECT: CommandOption = {
  name: 'allow-suspect',
  value: 'needed',
  placeholder: 'GLOB',
  help: 'treat suspect changes of these paths as clean',
  many: true,
};
const SKIP: CommandOption = {
  name: 'skip',
  value: 'needed',
  placeholder: 'GLOB',
  help: 'leave these paths out',
  many: true,
};
const INCLUDE_IGNORED: CommandOption = {
  name: 'include-ignored',
  value: 'optional',
  placeholder: 'GLOB',
  help: 'also apply changes of files that ignore rules match',
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
  command(
    'sessions',
    '[PROJECT]',
    'list the sessions of all projects, newest first',
    [
      flag('all', 'include sessions that changed nothing'),
      flag('watch', 'go on, and print a line whenever a state changes'),
      flag('cost', 'print requests, tokens and cost, of each and together'),
      value('since', 'TIME', 'those started from this time on: 12h, 7d, or 2026-11-21T14:00'),
      JSON_OPTION,
    ],
    1,
  ),
  command('top', '', 'show running and pending sessions on the whole terminal', [], 0),
  command(
    'status',
    '[ID]',
    'show what a session changed and what was applied',
    [value('report', 'FILE', 'write its report to FILE (.json, .sarif, .md)'), JSON_OPTION],
    1,
  ),
  command(
    'diff',
    '[ID] [-- PATH…]',
    'show the changes of a session',
    [
      flag('patch', 'print what git apply takes, as without a terminal'),
      flag('view', 'print the changes for a reader, as on a terminal'),
      flag('stat', 'print the number of changed lines of each file'),
      flag('name-only', 'print names only'),
      flag('side-by-side', 'print old and new content in two columns'),
      flag('follow', 'print each change of a running session as it happens'),
      JSON_OPTION,
    ],
    1,
    true,
  ),
  command('attach', '[ID]', 'show a session of --bg here; when it has ended, review it', [], 1),
  command(
    'wait',
    '[ID…]',
    'wait until sessions have ended, and end with their exit status',
    [flag('any', 'wait for the first of them, and print its id'), flag('all', 'wait for every running session')],
    50,
  ),
  command('stop', '[ID]', 'stop a running session, keep its changes', [], 1),
  command(
    'apply',
    '[ID]',
    "apply a session's changes to the project",
    [
      flag('dry-run', 'print what would be done'),
      ONLY,
      SKIP,
      ALLOW_SUSPECT,
      INCLUDE_IGNORED,
      value('conflict', 'HOW', 'on a conflict: keep, theirs, markers, file (default: ask; without a terminal keep)'),
      value('branch', 'NAME', 'make a commit on this new branch, on top of HEAD, instead of changing files'),
      { name: 'push', value: 'optional', placeholder: 'REMOTE', help: 'with --branch: push it' },
      {
        name: 'pr',
        value: 'optional',
        placeholder: 'BASE',
        help: 'with --branch: push it, open a pull request with gh',
      },
      value('title', 'TEXT', 'with --branch: first line of the commit and title of the pull request'),
      flag('yes', 'apply clean changes without a question'),
      JSON_OPTION,
    ],
    1,
  ),
  command('discard', '[ID]', "discard a session's changes", [YES], 1),
  command('undo', '[ID]', 'undo the last apply', [flag('dry-run', 'print what would be done'), YES, JSON_OPTION], 1),
  command(
    'commits',
    '[ID]',
    'list or import the commits of a session',
    [
      flag('import', 'import them as refs of the repository'),
      value('branch', 'NAME', "with --import: also create this branch (THEIRS:NAME: of the session's branch THEIRS)"),
      { ...ONLY, placeholder: 'PATH', help: "only the repository at this path (a submodule; '.': the project's own)" },
      { ...ALLOW_SUSPECT, help: 'with --import: treat suspect changes of these paths as clean' },
      JSON_OPTION,
    ],
    1,
  ),
  command('export', '[ID] FILE', "write a session's changes to a file, for import elsewhere", [JSON_OPTION], 2),
  command(
    'import',
    'FILE [PROJECT]',
    'make a session of an exported file, audited anew',
    [value('commit', 'REV', 'compare with this commit instead of the files of the project'), JSON_OPTION],
    2,
  ),
  command('resume', '[ID] [-- agent arguments…]', 'continue a session', [], 1, true),
  command('explore', '[ID]', "open a shell on a session's files, discard its changes", [], 1),
  command(
    'rehearse',
    '[ID]',
    "try what usual commands start with a session's changes",
    [value('rehearse-time', 'SECONDS', 'time for all commands together (default: 120)'), JSON_OPTION],
    1,
  ),
  command('note', '[ID] TEXT', 'store a note with a session', [], 2),
  command(
    'audit',
    '[PATH] [RANGE | PATCH | - | ID]',
    'audit commits, staged changes, a push, a patch or a session',
    [
      value('base', 'REF', 'audit what HEAD changed since REF (or A..B); reads commits only'),
      flag('staged', 'audit what the next commit changes'),
      flag('pre-push', 'audit what a push brings; reads the lines that git writes to the hook'),
      value('pr', 'NUMBER|URL', 'audit a pull request of GitHub or a merge request of GitLab; checks out nothing'),
      flag('post', 'with --pr: show the verdict there, as a check and as one comment that the next audit updates'),
      flag('rules', 'list the rules'),
      value('explain', 'FILE', 'explain what each rule makes of FILE as it is now, since REF (default: HEAD)'),
      flag('write-baseline', 'accept what is suspect in .run-claude-baseline.json; it counts where the base has it'),
      value('fail-on', 'LEVEL', 'exit with status 121 from this severity on, too: note, suspect, blocked'),
      value('report', 'FILE', 'write the findings to FILE (.json, .sarif, .md)'),
      JSON_OPTION,
    ],
    2,
  ),
  command(
    'log',
    '[ID]',
    'print what happened in a session, one line an event (also: logs)',
    [
      flag('follow', 'go on until the session has ended'),
      value('since', 'TIME', 'from this time on: 10m, 2h, or 2026-11-21T14:00'),
      flag('output', 'print what a session of --bg without a terminal printed instead'),
      flag('list', 'list the logs of its services instead'),
      value('service', 'NAME', 'print what this service printed instead'),
      { ...JSON_OPTION, help: 'print JSON, one object a line' },
    ],
    1,
  ),
  command(
    'network',
    '[ID] | allow HOST',
    'list the network requests of a session, or allow a host',
    [flag('suggest', 'print options that would allow the refused requests'), JSON_OPTION],
    3,
  ),
  command(
    'ports',
    '[ID] [PORT[:HOSTPORT]]',
    'list the pages of a running session, or show one more in your browser',
    [JSON_OPTION],
    2,
  ),
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

import { AGENT_NAMES } from '../../core/types/agent/agent-package.ts';
import { CACHE_NAMES } from '../../core/types/setup/cache.ts';
import { STRATEGY_NAMES } from '../../core/types/strategy.ts';

/** A value: none; needed, in the next word or after '='; optional, after '=' only. */
export type OptionValue = 'none' | 'needed' | 'optional';

export interface Option {
  /** Without the dashes. */
  readonly name: string;
  /** Its shorter name. */
  readonly short?: string;
  readonly value: OptionValue;
  /** The value's name in the help: 'GLOB'. */
  readonly placeholder?: string;
  /** With {@link placeholder}: a value as a shell reads it, for the example in the reference. */
  readonly example?: string;
  readonly help: string;
  /** May be given several times; every value counts. */
  readonly many?: true;
  /** The setting that the option changes. None or '': an action, or handled by the grammar. */
  readonly setting?: string;
  /** What a flag without a value sets; default true. */
  readonly sets?: boolean;
  readonly group: Group;
}

/** The value's name in the help, and an example of one: 'SIZE', '4g'. */
type Valued = readonly [placeholder: string, example: string];

export type Group =
  | 'Where the agent works'
  | 'Files in and out'
  | 'Limits'
  | 'Network and secrets'
  | 'The sandbox'
  | 'This run';

const none = (group: Group, name: string, help: string, more: Partial<Option> = {}): Option => ({
  name,
  value: 'none',
  help,
  group,
  setting: name,
  ...more,
});
const needed = (group: Group, name: string, valued: Valued, help: string, more: Partial<Option> = {}): Option => ({
  name,
  value: 'needed',
  placeholder: valued[0],
  example: valued[1],
  help,
  group,
  setting: name,
  ...more,
});
const optional = (group: Group, name: string, valued: Valued, help: string, more: Partial<Option> = {}): Option => ({
  ...needed(group, name, valued, help, more),
  value: 'optional',
});
const action = { setting: '' } as const;
const many = { many: true } as const;

/** run-claude's options before a session, in the order of the help. */
export const RUN_OPTIONS: readonly Option[] = [
  optional(
    'Where the agent works',
    'copy-workspace',
    ['HOW', 'volume'],
    `work on a copy: ${['auto (default)', ...STRATEGY_NAMES, 'shallow'].join(', ')}`,
    { ...action, short: 'copy' },
  ),
  none(
    'Where the agent works',
    'bind',
    "work on the project's own files (default, except with -p and exec; a first start on a terminal asks)",
    action,
  ),
  none('Where the agent works', 'shallow', 'copy less: no old history, no vendored directories'),
  none('Where the agent works', 'repo', 'take the whole repository, start in PROJECT'),
  none('Where the agent works', 'shell', 'run bash instead of the agent', action),
  needed(
    'Where the agent works',
    'agent',
    ['NAME', AGENT_NAMES[1]],
    `run this agent instead of Claude: ${AGENT_NAMES.slice(1).join(', ')}, or one of your configuration`,
  ),
  needed('Files in and out', 'also', ['DIR[:ro]', '../lib:ro'], 'copy this folder to /also too; ro: read-only', many),
  needed('Files in and out', 'exclude', ['GLOB', "'*.pem'"], 'leave matching paths out of the copy', many),
  needed('Files in and out', 'include', ['GLOB', 'vendor/'], 'include excluded paths again', many),
  needed('Files in and out', 'mask', ['GLOB', '.env'], 'show matching files as empty', many),
  needed('Files in and out', 'unmask', ['GLOB', '.env.test'], 'show the agent the secrets of matching files', many),
  none('Files in and out', 'no-ignored', 'leave out of the copy what ignore rules match', {
    setting: 'copy-ignored',
    sets: false,
  }),
  optional(
    'Files in and out',
    'include-ignored',
    ['GLOB', 'dist/'],
    'also bring back files that ignore rules match',
    many,
  ),
  none('Files in and out', 'auto-apply', 'apply clean changes without a question, hold back the rest'),
  needed(
    'Files in and out',
    'allow-suspect',
    ['GLOB', 'Makefile'],
    'treat suspect changes of these paths as clean',
    many,
  ),
  needed(
    'Files in and out',
    'fail-on',
    ['LEVEL', 'suspect'],
    'exit with status 121 from this severity on: note, suspect, blocked',
  ),
  needed(
    'Files in and out',
    'new-kinds',
    ['MODE', 'note'],
    'with --auto-apply: hold back first files of a kind (ask, default), or note',
  ),
  needed(
    'Files in and out',
    'rehearse',
    ['MODE', 'always'],
    'try what the changes start, before the question: always, ask, off (default)',
  ),
  needed(
    'Files in and out',
    'test',
    ['COMMAND', "'npm test'"],
    'run this command on the result; exit with status 119 unless it passes',
    many,
  ),
  none('Files in and out', 'require-tests', 'with --auto-apply: apply nothing unless the tests pass'),
  needed('Files in and out', 'report', ['FILE', 'report.json'], 'write the outcome to FILE (.json, .sarif, .md)'),
  needed('Limits', 'memory', ['SIZE', '4g'], 'memory (default 8g)'),
  needed('Limits', 'cpus', ['N', '2'], 'processors (default all)'),
  needed('Limits', 'pids', ['N', '1024'], 'number of processes (default 4096)'),
  needed('Limits', 'tmp-size', ['SIZE', '1g'], 'size of /tmp (default 512m)'),
  needed(
    'Limits',
    'disk',
    ['SIZE', '10g'],
    'space that the session may fill (default 20g, at most half of the free space)',
  ),
  needed('Limits', 'timeout', ['DURATION', '30m'], 'stop the agent after this time, keep its changes (30m, 2h)'),
  needed(
    'Limits',
    'idle-timeout',
    ['DURATION', '2h'],
    'end a session of `up` after this time without a command (default 12h)',
  ),
  needed('Limits', 'max-cost', ['USD', '2.50'], 'stop the agent at this cost, keep its changes'),
  needed('Limits', 'max-requests', ['N', '200'], 'stop the agent after N requests, keep its changes'),
  needed('Network and secrets', 'network', ['MODE', 'gateway'], 'network access: gateway (default), none, open'),
  needed(
    'Network and secrets',
    'allow-host',
    ['HOST[:PORT]', 'api.example.org:443'],
    'let the agent reach this host',
    many,
  ),
  needed(
    'Network and secrets',
    'allow-address',
    ['CIDR', '10.1.0.0/16'],
    'let host names resolve into this private range',
    many,
  ),
  needed(
    'Network and secrets',
    'port',
    ['PORT[:HOSTPORT]', '3000'],
    'show a page of the session in your browser: its PORT at HOSTPORT here',
    many,
  ),
  needed(
    'Network and secrets',
    'allow-local',
    ['PORT[:NAME]', '5432:db'],
    'let the agent use this service of your machine, as 127.0.0.1:PORT and NAME:PORT',
    many,
  ),
  needed(
    'Network and secrets',
    'credentials',
    ['MODE', 'none'],
    'broker (default: the credential stays outside), file, none',
  ),
  none('Network and secrets', 'fresh-creds', "refresh the host's login before the start"),
  needed('Network and secrets', 'env', ['NAME[=VALUE]', 'CI=true'], 'pass a variable to the agent', many),
  needed(
    'Network and secrets',
    'env-file',
    ['FILE', 'test.env'],
    'pass the variables of a file to the agent, one NAME=VALUE a line',
    many,
  ),
  none('Network and secrets', 'no-mcp', 'leave out the MCP servers of your configuration', {
    setting: 'mcp',
    sets: false,
  }),
  none('Network and secrets', 'allow-git-push', 'allow git push'),
  needed(
    'The sandbox',
    'permissions',
    ['MODE', 'ask'],
    "the agent's permission questions: skip (default in copy mode) or ask (default in bind mode)",
  ),
  needed('The sandbox', 'engine', ['NAME', 'podman'], 'container engine: auto (default), docker, podman'),
  needed(
    'The sandbox',
    'on',
    ['NAME[,NAME]', 'big'],
    'run on this engine of your configuration, of several on the one with the fewest sessions; or in a job: slurm:PARTITION; or in pods: k8s:CONTEXT',
  ),
  needed('The sandbox', 'runtime', ['NAME', 'runsc'], 'use this runtime of the engine'),
  needed('The sandbox', 'image', ['REF', 'my-tools:1'], "use this image, with run-claude's guards added"),
  none('The sandbox', 'gpu', "give the agent the engine's graphics processors"),
  none('The sandbox', 'toolchain', 'use an image with compilers'),
  needed('The sandbox', 'with', ['NAME', 'browser'], 'add to the image: browser', many),
  needed(
    'The sandbox',
    'cache',
    ['NAME', 'npm'],
    `fetch what the project's lock file names once, for all sessions: ${CACHE_NAMES.join(', ')}`,
    many,
  ),
  needed(
    'The sandbox',
    'approve',
    ['DIGEST', '0123456789abcdef'],
    "agree to what the project's .run-claude.toml asks for",
    { ...many, setting: 'approved' },
  ),
  needed('The sandbox', 'claude-version', ['VERSION', 'latest'], 'use this release of Claude Code, or the latest'),
  none('The sandbox', 'rebuild', 'rebuild the image before the start'),
  none('The sandbox', 'isolate-claude-data', "keep the project's Claude data in a volume of the engine"),
  none('The sandbox', 'no-sync-back', "bring none of Claude's own data back", { setting: 'sync-back', sets: false }),
  needed('The sandbox', 'profile', ['NAME', 'review'], 'use the settings, plugins and skills of this profile'),
  none('The sandbox', 'verify', 'check the hash of every file of the base before use'),
  needed('This run', 'tmpdir', ['DIR', './staging'], "stage this run's files in DIR, made when absent, and keep them"),
  optional(
    'This run',
    'dry-run',
    ['FORM', 'oci'],
    'print the plan and its docker commands, start nothing; oci, pod, pods: as JSON for those',
    action,
  ),
  needed(
    'This run',
    'without-layer',
    ['NAME', 'swap'],
    'with --on or --dry-run=FORM: do without this layer, which is not supported there',
    { ...many, ...action },
  ),
  none('This run', 'background', 'start without a terminal, print the id, and go on: see attach, wait, stop', {
    ...action,
    short: 'bg',
  }),
  none('This run', 'keep-awake', 'keep this machine from going to sleep while the agent runs'),
  none('This run', 'check', 'check the environment and exit', action),
  none('This run', 'yes', 'start without a question'),
  none('This run', 'quiet', 'print less'),
  none('This run', 'trace', 'print every step'),
  optional('This run', 'help', ['all', 'all'], 'print the first options and commands; all: every one', action),
  none('This run', 'version', 'print the versions', action),
];

/** Commands that also take the options of a session, apart from these. */
export const REFUSED_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  exec: ['shell'],
  up: ['shell', 'bind', 'report', 'background'],
  mcp: ['shell', 'bind', 'report', 'background'],
  batch: ['shell', 'bind', 'report', 'background', 'check', 'dry-run', 'without-layer', 'version'],
};

/** The options of a session that this command gives to each of several sessions. */
export function optionsForEach(command: string): readonly Option[] {
  return RUN_OPTIONS.filter(({ name }) => REFUSED_OPTIONS[command]?.includes(name) === false);
}

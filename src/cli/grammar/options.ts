import { STRATEGY_NAMES } from '../../types/strategy.ts';

/** A value: none; needed, in the next word or after '='; optional, after '=' only. */
export type OptionValue = 'none' | 'needed' | 'optional';

export interface Option {
  /** Without the dashes. */
  readonly name: string;
  readonly value: OptionValue;
  /** As shown in the help: 'GLOB'. */
  readonly placeholder?: string;
  readonly help: string;
  /** May stand several times; every value counts. */
  readonly many?: true;
  /** The setting that it changes; none: an action, or handled by the grammar. */
  readonly setting?: string;
  /** What a flag without a value sets; default true. */
  readonly sets?: boolean;
  readonly group: Group;
}

export type Group =
  | 'Where Claude works'
  | 'What goes in and out'
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
const needed = (group: Group, name: string, placeholder: string, help: string, more: Partial<Option> = {}): Option => ({
  name,
  value: 'needed',
  placeholder,
  help,
  group,
  setting: name,
  ...more,
});
const action = { setting: '' } as const;
const many = { many: true } as const;

/** Our options before a session, in the order of the help. */
export const RUN_OPTIONS: readonly Option[] = [
  {
    name: 'copy-workspace',
    value: 'optional',
    placeholder: 'HOW',
    help: `work on a copy: ${['auto', ...STRATEGY_NAMES, 'shallow'].join(', ')}`,
    group: 'Where Claude works',
  },
  none('Where Claude works', 'bind', "work on the project's own files, live (default, but for -p and exec)", action),
  none('Where Claude works', 'shallow', 'a faster copy: no old history, no vendored directories'),
  none('Where Claude works', 'repo', 'take the whole repository, start in PROJECT'),
  none('Where Claude works', 'shell', 'bash instead of Claude', action),
  needed('What goes in and out', 'exclude', 'GLOB', 'leave out of the copy', many),
  needed('What goes in and out', 'include', 'GLOB', 'put back what is left out', many),
  needed('What goes in and out', 'mask', 'GLOB', 'show as an empty file', many),
  {
    name: 'include-ignored',
    value: 'optional',
    placeholder: 'GLOB',
    help: 'also bring back what the ignore rules match',
    group: 'What goes in and out',
    setting: 'include-ignored',
    many: true,
  },
  none('What goes in and out', 'auto-apply', 'no questions: apply what is clean, hold back the rest'),
  needed('What goes in and out', 'allow-suspect', 'GLOB', 'with it, suspect changes there count as clean', many),
  needed('What goes in and out', 'fail-on', 'LEVEL', 'exit 121 from this severity on (note, suspect, blocked)'),
  needed('What goes in and out', 'report', 'FILE', 'write the outcome (.json, .sarif, .md)'),
  needed('Limits', 'memory', 'SIZE', 'default 8g'),
  needed('Limits', 'cpus', 'N', 'default all'),
  needed('Limits', 'pids', 'N', 'processes; default 4096'),
  needed('Limits', 'tmp-size', 'SIZE', 'of /tmp; default 512m'),
  needed('Limits', 'disk', 'SIZE', 'written by the session; default 20g or half of what is free'),
  needed('Limits', 'timeout', 'DURATION', 'stop then, keep the work (30m, 2h)'),
  needed('Limits', 'max-cost', 'USD', 'stop then, keep the work'),
  needed('Limits', 'max-requests', 'N', 'stop then, keep the work'),
  needed('Network and secrets', 'network', 'MODE', 'gateway (default), none, open'),
  needed('Network and secrets', 'allow-host', 'HOST[:PORT]', 'let the gateway pass to it', many),
  needed('Network and secrets', 'allow-address', 'CIDR', 'let names resolve into this private range', many),
  needed('Network and secrets', 'credentials', 'MODE', 'broker (default), file, none'),
  none('Network and secrets', 'fresh-creds', "refresh the host's login before the start"),
  needed('Network and secrets', 'env', 'NAME[=VALUE]', 'pass a variable in', many),
  none('Network and secrets', 'allow-git-push', 'let git push pass'),
  needed('The sandbox', 'permissions', 'MODE', 'skip (default on a copy) or ask (default in bind mode)'),
  needed('The sandbox', 'engine', 'NAME', 'auto (default), docker, podman'),
  needed('The sandbox', 'runtime', 'NAME', "another of the engine's runtimes"),
  needed('The sandbox', 'image', 'REF', 'another image, with our guards laid over it'),
  none('The sandbox', 'toolchain', 'with compilers'),
  none('The sandbox', 'rebuild', 'build the image again first'),
  none('The sandbox', 'isolate-claude-data', "keep the project's Claude data in an engine volume of its own"),
  none('The sandbox', 'no-sync-back', "nothing of Claude's own data comes back", { setting: 'sync-back', sets: false }),
  needed('The sandbox', 'profile', 'NAME', 'settings, plugins and skills of a named role'),
  none('The sandbox', 'verify', 'hash the whole base before use'),
  needed('This run', 'tmpdir', 'DIR', 'keep what this run stages in DIR, made when absent'),
  none('This run', 'dry-run', 'print the plan and the docker commands, start nothing', action),
  none('This run', 'check', 'verify the environment and exit', action),
  none('This run', 'yes', 'no question before the start'),
  none('This run', 'quiet', 'say less'),
  none('This run', 'trace', 'say everything that is done'),
  none('This run', 'help', 'this text', action),
  none('This run', 'version', 'the versions', action),
];

import { type Option, RUN_OPTIONS } from '../../../src/cli/grammar/options.ts';
import { DEFAULTS, type Form, SETTINGS, type Setting, variableOf } from '../../../src/core/config/settings.ts';
import { formatDurationMs, formatSizeMb } from '../../../src/core/config/values/quantities.ts';
import { table } from './table.ts';

// The tables of docs/reference/settings.md, from the settings and the options of the command line.

const code = (text: string): string => `\`${text.replaceAll('|', '\\|')}\``;

const TIGHTENING: Readonly<Record<Setting['tighten'], string>> = {
  smaller: 'make it smaller',
  tighter: 'choose a stricter one',
  add: 'add to it',
  on: 'set true',
  off: 'set false',
  never: 'not set it',
};

function valuesOf(form: Form): string {
  switch (form.kind) {
    case 'choice':
      return form.isOpen === true ? 'text' : form.of.map((one) => code(one)).join(', ');
    case 'switch':
      return 'true, false';
    case 'switch-or-list':
      return 'true, false, or a list of globs';
    case 'size':
      return `size, at least ${form.minMb}m`;
    case 'duration':
      return 'duration';
    case 'count':
      return `whole number, at least ${form.min}`;
    case 'amount':
      return 'US dollars';
    case 'cpus':
      return 'number, or `all`';
    case 'text':
      return 'text';
    case 'list':
      return form.isOfPatterns === true ? 'list of globs' : 'list of texts';
    case 'variables':
      return 'list of `NAME` or `NAME=VALUE`';
  }
}

/** Defaults that depend on the machine or the mode. */
const DEFAULT_TEXTS: Readonly<Record<string, string>> = {
  mode: '`bind`; `copy` with `-p`, `exec`, `--auto-apply`',
  cpus: '`all`',
  disk: '20g, or half of what is free',
  permissions: '`skip` on a copy, `ask` in bind mode',
  agent: '`claude`',
};

function defaultOf({ name, key, form }: Setting): string {
  const known = DEFAULT_TEXTS[name];
  const value: unknown = DEFAULTS[key];
  if (known !== undefined) return known;
  if (value === undefined) return 'none';
  if (form.kind === 'size') return formatSizeMb(Number(value));
  if (form.kind === 'duration') return formatDurationMs(Number(value));
  if (Array.isArray(value)) return value.length === 0 ? 'empty' : value.map((one) => code(String(one))).join(', ');
  return typeof value === 'object' ? 'empty' : code(String(value));
}

/** What a setting has in place of the one option that sets it. */
interface Own {
  readonly meaning: string;
  readonly option?: string;
  readonly example?: string;
  readonly group?: Option['group'];
}

/** Settings without an option, and those whose option sets the contrary. */
const OWN: Readonly<Record<string, Own>> = {
  mode: { meaning: 'where the agent works', option: '--copy, --bind', example: '"copy"' },
  strategy: { meaning: 'how the copy is made', option: '--copy=STRATEGY', example: '"layers"' },
  'copy-ignored': { meaning: 'copy what ignore rules match', example: 'false' },
  'sync-back': { meaning: "bring Claude's own data back", example: 'false' },
  notify: {
    meaning: 'a program that calls you, with id, kind, verdict and project as its last words',
    example: '["my-notify", "--quiet"]',
    group: 'This run',
  },
  'network-presets': {
    meaning: 'groups of hosts that the agent reaches',
    example: '["default", "maven"]',
    group: 'Network and secrets',
  },
};

/** The example of an option without the quotes of the shell, as TOML has it. */
function exampleOf({ name, form }: Setting, option: Option | undefined): string {
  const own = OWN[name]?.example;
  if (own !== undefined) return own;
  if (form.kind === 'switch') return 'true';
  const text = (option?.example ?? '').replaceAll("'", '');
  if (text === '') throw new Error(`settings.md has no example for ${name}`);
  switch (form.kind) {
    case 'count':
    case 'amount':
    case 'cpus':
      return text;
    case 'list':
    case 'variables':
    case 'switch-or-list':
      return `["${text}"]`;
    default:
      return `"${text}"`;
  }
}

interface Row {
  readonly setting: Setting;
  readonly option: Option | undefined;
  readonly group: string;
}

/** One line of TOML for each setting of a file, as the page shows it. */
export const SETTING_EXAMPLES: readonly string[] = rows().map(
  ({ setting, option }) => `${setting.name} = ${exampleOf(setting, option)}`,
);

function rows(): readonly Row[] {
  const options = new Map(RUN_OPTIONS.map((option) => [option.setting ?? option.name, option]));
  // `approved` is refused outside of a `[project."…"]` table.
  return SETTINGS.filter(({ file, name }) => file !== false && name !== 'approved').map((setting) => {
    const option = options.get(setting.name);
    return { setting, option, group: option?.group ?? OWN[setting.name]?.group ?? 'Where the agent works' };
  });
}

function cellsOf({ setting, option }: Row): string[] {
  const own = OWN[setting.name];
  const meaning = own?.meaning ?? option?.help;
  if (meaning === undefined) throw new Error(`settings.md has no meaning for ${setting.name}`);
  const value = option?.placeholder === undefined ? '' : ` ${option.placeholder}`;
  const names = own?.option ?? (option === undefined ? undefined : `--${option.name}${value}`);
  return [
    code(setting.name),
    // The column after says it.
    meaning.replace(/ \(default [^)]*\)/, '').replaceAll('|', '\\|'),
    valuesOf(setting.form),
    defaultOf(setting),
    code(`${setting.name} = ${exampleOf(setting, option)}`),
    names === undefined ? 'none' : code(names),
    TIGHTENING[setting.tighten],
  ];
}

const HEAD = ['key', 'meaning', 'value', 'default', 'example', 'option', "a project's file may"];

/** The generated part of docs/reference/settings.md. */
export function settings(): string {
  const all = rows();
  const groups = [...new Set(all.map(({ group }) => group))].map((group) => {
    const cells = all.filter((row) => row.group === group).map(cellsOf);
    return `### ${group}\n\n${table(HEAD, cells)}`;
  });
  const without = SETTINGS.filter(({ file, environment }) => file !== false && environment === false);
  const size = SETTINGS.find(({ name }) => name === 'tmp-size');
  const variables =
    'The variable of a key has its name in capitals, with `_` for `-`: ' +
    `${size === undefined ? '' : code(variableOf(size))} for \`tmp-size\`. ` +
    `${without.map(({ name }) => code(name)).join(', ')} has none.`;
  return [variables, ...groups].join('\n\n');
}

import { SETTINGS, type Setting } from '../../core/config/settings.ts';
import { formatDurationMs, formatSizeMb } from '../../core/config/values/quantities.ts';
import { usageError } from '../../core/errors.ts';
import { jsonText } from '../../core/report/json.ts';
import type { Policy } from '../../core/types/policy.ts';
import { MASKED } from '../../session/plan/mask-plan.ts';
import { cleanLine } from '../../terminal/clean.ts';
import type { CommandContext, CommandRun } from '../context/context.ts';
import { tooManyWords } from '../grammar/grammar-errors.ts';
import { RUN_OPTIONS } from '../grammar/options.ts';
import { changeConfig, configFileOf } from '../policy/change-config.ts';
import { type ConfigFile, readPolicy } from '../policy/read-policy.ts';

/** `config [PROJECT]`: every setting with its value and origin, and the files that were looked for. */
export const configCommand: CommandRun = async (line, context) => {
  const [verb = '', name, ...values] = line.words;
  if (line.options.has('schema')) {
    const { configSchema } = await import('../../core/config/json-schema.ts');
    context.write(jsonText(configSchema(meaningOf)));
    return 0;
  }
  if (verb === 'set' || verb === 'unset') return change(verb, name, values, context);
  if (name !== undefined) throw tooManyWords('config', name);
  const { policy, origins, warnings, files } = await readPolicy(line.words[0], [], context, {
    isAttended: true,
  });
  for (const text of warnings) context.tell({ kind: 'message', level: 'warning', text });
  const rows = SETTINGS.filter((setting) => setting.file !== false).map((setting) => ({
    name: setting.name,
    value: shown(setting, policy),
    origin: origins.get(setting.key) ?? 'default',
  }));
  const tables = TABLES.map(({ key, name }) => ({
    name,
    value: policy[key],
    origin: origins.get(key) ?? 'default',
  }));
  if (line.options.has('json')) {
    const data = Object.fromEntries([...rows, ...tables].map(({ name, value, origin }) => [name, { value, origin }]));
    context.write(jsonText({ ...data, files }));
    return 0;
  }
  for (const { name, value, origin } of rows) {
    context.write(`${name.padEnd(20)} ${text(value).padEnd(24)} ${cleanLine(origin)}\n`);
  }
  for (const { name, value, origin } of tables.filter((table) => table.origin !== 'default')) {
    context.write(`${name.padEnd(20)} ${text(value)} ${cleanLine(origin)}\n`);
  }
  context.write('\nFiles, a later one overrides an earlier one:\n');
  for (const { path, state } of files) context.write(`${FILE_STATES[state].padEnd(20)} ${cleanLine(path)}\n`);
  return 0;
};

/** `config set NAME VALUE…` and `config unset NAME`, in the user's own file. */
async function change(
  verb: 'set' | 'unset',
  name: string | undefined,
  values: readonly string[],
  context: CommandContext,
): Promise<number> {
  if (name === undefined || (verb === 'set') !== values.length > 0)
    throw usageError(
      `config ${verb}: ${name === undefined ? 'which setting?' : verb === 'set' ? 'which value?' : 'too many words'}`,
      verb === 'set' ? 'Write run-claude config set NAME VALUE.' : 'Write run-claude config unset NAME.',
    );
  const { withSetting } = await import('../../core/config/set-value.ts');
  await changeConfig(context, (text, file) => withSetting(text, name, verb === 'set' ? values : undefined, file));
  context.tell({
    kind: 'message',
    level: 'info',
    text: `${verb === 'set' ? 'Set' : 'Removed'} ${name} in ${configFileOf(context)}`,
  });
  return 0;
}

/** What the option of a setting does, for the schema. */
const meaningOf = (name: string): string | undefined =>
  RUN_OPTIONS.find(({ setting, sets }) => setting === name && sets === undefined)?.help;

const TABLES = [
  { key: 'brokers', name: '[[broker]]' },
  { key: 'allowRequests', name: '[[allow]]' },
  { key: 'mcpServers', name: '[[mcp]]' },
  { key: 'mcpPrograms', name: '[[mcp]] command' },
  { key: 'services', name: '[[service]]' },
  { key: 'tests', name: '[[test]]' },
  { key: 'scenes', name: '[[scene]]' },
  { key: 'environment', name: '[environment]' },
  { key: 'auditRules', name: '[[audit.rules]]' },
  { key: 'auditSeverities', name: '[audit.severities]' },
] as const;

const FILE_STATES: Readonly<Record<ConfigFile['state'], string>> = { read: 'read', absent: 'does not exist' };

function shown(setting: Setting, policy: Policy): unknown {
  if (setting.key === 'env') return Object.keys(policy.env).map((name) => `${name}=${MASKED}`);
  const value = policy[setting.key];
  if (typeof value === 'number' && setting.form.kind === 'size') return formatSizeMb(value);
  if (typeof value === 'number' && setting.form.kind === 'duration') return formatDurationMs(value);
  if (setting.form.kind === 'cpus' && value === 0) return 'all';
  return value ?? null;
}

function text(value: unknown): string {
  return value === null ? '-' : cleanLine(typeof value === 'string' ? value : JSON.stringify(value));
}

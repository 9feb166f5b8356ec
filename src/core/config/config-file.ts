import { parse, TomlError } from 'smol-toml';
import { z } from 'zod';
import { usageError } from '../errors.ts';
import type { OwnAgent } from '../types/agent/own-agent.ts';
import type { NamedEngine } from '../types/engine.ts';
import type { AllowRule, BrokerRule, McpProgram, McpServer, Policy, Service, UserRule } from '../types/policy.ts';
import type { SceneCommand } from '../types/scene.ts';
import type { Environment } from '../types/setup/environment.ts';
import type { TestCommand } from '../types/test.ts';
import { engineTables } from './engine-table.ts';
import { explainFault } from './explain-schema.ts';
import { readValue, type Value, withinLimits } from './read-value.ts';
import { SETTINGS } from './settings.ts';
import { agentTables } from './tables/agent.ts';
import { environmentSchema } from './tables/environment.ts';
import { type KubernetesTable, kubernetesTable } from './tables/kubernetes.ts';
import { sceneTables } from './tables/scene.ts';
import { serviceTables } from './tables/service.ts';
import { type SlurmTable, slurmTable } from './tables/slurm.ts';
import { testTables } from './tables/test.ts';
import { readEnvironment } from './values/environment.ts';

/** The content of a config.toml or .run-claude.toml: values by the names of settings, and tables without an option. */
export interface FileSettings {
  readonly values: ReadonlyMap<string, Value>;
  readonly brokers: readonly BrokerRule[];
  readonly allowRequests: readonly AllowRule[];
  readonly mcpServers: readonly McpServer[];
  readonly mcpPrograms: readonly McpProgram[];
  readonly agents: readonly OwnAgent[];
  readonly engines: readonly NamedEngine[];
  readonly services: readonly Service[];
  readonly tests: readonly TestCommand[];
  readonly scenes: readonly SceneCommand[];
  readonly slurm: SlurmTable | undefined;
  readonly kubernetes: KubernetesTable | undefined;
  readonly environment: Environment | undefined;
  /** The project's devcontainer.json is part of its request. */
  readonly devcontainer: boolean;
  readonly auditRules: readonly UserRule[];
  readonly auditSeverities: Readonly<Record<string, 'blocked' | 'suspect' | 'note'>>;
  readonly plugin: PluginTable;
  /** What the user chose for a project, by its real path. */
  readonly projects: ReadonlyMap<string, ProjectTable>;
}

/** `[project."/home/me/x"]` */
export interface ProjectTable {
  /** Where sessions of the project work that are started on a terminal. */
  readonly mode?: Policy['mode'] | undefined;
  /** Digests of requests of the project that the user agreed to. */
  readonly approved?: readonly string[] | undefined;
}

/** What the user lets the plugin for Claude Code leave outside the copy. */
export interface PluginTable {
  /** Commands that run on the host, each one simple command; with a last word `*`, any more words follow. */
  readonly passthrough: readonly string[];
  /** Tools of other MCP servers, by the names that Claude Code gives them. */
  readonly tools: readonly string[];
}

const severity = z.enum(['blocked', 'suspect', 'note']);
const texts = z.array(z.string().min(1));
const VARIABLE = z.string().regex(/^[A-Za-z_]\w*$/, 'the name of a variable');
/** What passes with a host's requests, in `[[broker]]` and `[[allow]]`. */
const passedNames = {
  parameters: texts.min(1).optional(),
  headers: texts.min(1).optional(),
  'content-types': texts.min(1).optional(),
};
/** What a file can hold. Its settings are checked one by one afterwards, by their forms. */
export const fileSchema = z.strictObject({
  ...Object.fromEntries(SETTINGS.filter((s) => s.file !== false).map((s) => [s.name, z.unknown().optional()])),
  broker: z
    .array(
      z
        .strictObject({
          host: z.string().min(1),
          header: z.string().min(1),
          from: texts.min(1),
          methods: texts.optional(),
          requests: texts.min(1).optional(),
          ...passedNames,
        })
        .refine((rule) => rule.methods === undefined || rule.requests === undefined, {
          error: 'requests name their methods: leave methods out',
        })
        .transform(({ 'content-types': contentTypes, ...rule }) =>
          present({ ...rule, contentTypes, methods: rule.methods ?? ['GET', 'HEAD'] }),
        ),
    )
    .default([]),
  allow: z
    .array(
      z
        .strictObject({ host: z.string().min(1), requests: texts.min(1), ...passedNames })
        .transform(({ 'content-types': contentTypes, ...rule }) => present({ ...rule, contentTypes })),
    )
    .default([]),
  mcp: z
    .array(
      z
        .strictObject({
          name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'letters, digits, - and _'),
          url: z.string().min(1).optional(),
          header: z.string().min(1).optional(),
          from: texts.min(1).optional(),
          oauth: z.literal(true).optional(),
          command: texts.min(1).optional(),
          directory: z.string().regex(/^\//, 'an absolute path').optional(),
          env: z.record(VARIABLE, z.string()).optional(),
          secrets: z.record(VARIABLE, texts.min(1)).optional(),
          hosts: texts.min(1).optional(),
          tools: texts.min(1).optional(),
        })
        .refine((server) => (server.url === undefined) !== (server.command === undefined), {
          error: 'a server has either url or command',
        })
        .refine(
          ({ url, directory, env, secrets, hosts }) => url === undefined || !(directory ?? env ?? secrets ?? hosts),
          {
            error: 'directory, env, secrets and hosts belong to a server with command',
          },
        )
        .refine(({ command, header }) => command === undefined || header === undefined, {
          error: 'header and from belong to a server with url',
        })
        .refine(({ url, from, oauth }) => oauth === undefined || (url !== undefined && from === undefined), {
          error: 'oauth belongs to a server with url, and without header and from',
        })
        .refine((server) => (server.header === undefined) === (server.from === undefined), {
          error: 'header and from belong together',
        }),
    )
    .refine((servers) => new Set(servers.map(({ name }) => name)).size === servers.length, {
      error: 'two servers have the same name',
    })
    .default([]),
  agents: agentTables,
  service: serviceTables,
  test: testTables,
  scene: sceneTables,
  slurm: slurmTable.optional(),
  kubernetes: kubernetesTable.optional(),
  environment: environmentSchema.optional(),
  audit: z
    .strictObject({
      rules: z
        .array(z.strictObject({ id: z.string().min(1), paths: texts.min(1), severity, why: z.string().min(1) }))
        .default([]),
      severities: z.record(z.string(), severity).default({}),
    })
    .default({ rules: [], severities: {} }),
  project: z
    .record(
      z.string().regex(/^\//, 'an absolute path'),
      z.strictObject({ mode: z.enum(['copy', 'bind']).optional(), approved: texts.optional() }),
    )
    .default({}),
  plugin: z
    .strictObject({ passthrough: texts.default([]), tools: texts.default([]) })
    .default({ passthrough: [], tools: [] }),
});

/**
 * The settings in the text of a configuration file. `where` names the file in messages.
 *
 * @throws {RunClaudeError} USAGE for text that is not TOML, for an unknown key, and for a value that is not allowed
 */
export function readConfigFile(text: string, where: string): FileSettings {
  const parsed = fileSchema.safeParse(parseToml(text, where));
  if (!parsed.success) throw explainFault(parsed.error, fileSchema, { where });
  const { allow, broker, mcp, agents, service, test, scene, ...tables } = parsed.data;
  const { slurm, kubernetes, environment, audit, plugin, project, ...rest } = tables;
  const values = new Map<string, Value>();
  const named: Readonly<Record<string, unknown>> = rest;
  const engines = readEngines(named['engine'], where);
  for (const setting of SETTINGS) {
    const raw = setting.name === 'engine' && engines !== undefined ? undefined : named[setting.name];
    if (typeof raw === 'object' && raw !== null && !Array.isArray(raw))
      throw usageError(
        `${where}: ${setting.name} is a setting and not a table`,
        `Write ${setting.name} = … above the first table.`,
      );
    if (raw !== undefined) values.set(setting.name, readValue(setting, raw, `${where}: ${setting.name}`));
  }
  return {
    values,
    brokers: broker,
    allowRequests: allow,
    mcpServers: mcp.flatMap(({ name, url, header, from, oauth, tools }) =>
      url === undefined ? [] : [present({ name, url, header, from, oauth, tools })],
    ),
    mcpPrograms: mcp.flatMap(({ name, command, directory, env = {}, secrets = {}, hosts = [], tools }) =>
      command === undefined ? [] : [present({ name, command, directory, env, secrets, hosts, tools })],
    ),
    agents,
    engines: engines ?? [],
    services: service,
    tests: test,
    scenes: scene,
    slurm,
    kubernetes,
    devcontainer: environment?.devcontainer === true,
    environment: environment === undefined ? undefined : readEnvironment(environment, `${where}: environment`),
    auditRules: boundedRules(audit.rules, `${where}: [[audit.rules]]`),
    auditSeverities: audit.severities,
    plugin,
    projects: new Map(Object.entries(project)),
  };
}

/** Rules of one file have so many patterns at most. */
const MAX_RULE_PATTERNS = 200;

/** @throws {RunClaudeError} USAGE for a rule whose patterns are beyond the limits */
function boundedRules(rules: readonly UserRule[], where: string): readonly UserRule[] {
  for (const { id, paths } of rules) withinLimits(paths, `${where} ${JSON.stringify(id)}, paths`);
  withinLimits(
    rules.flatMap(({ paths }) => paths),
    where,
    MAX_RULE_PATTERNS,
  );
  return rules;
}

/** The engines of `[engine.NAME]`; undefined where `engine` is a setting or absent. TOML allows one of the two in a file. */
function readEngines(raw: unknown, where: string): readonly NamedEngine[] | undefined {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return undefined;
  const parsed = engineTables.safeParse(raw);
  if (!parsed.success) throw explainFault(parsed.error, engineTables, { where, below: ['engine'] });
  return parsed.data;
}

/** Without the keys that have no value. */
function present<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as T;
}

function parseToml(text: string, where: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const { line, column, message } = error;
    const said = message.split('\n')[0]?.replace(/^Invalid TOML document: /, '') ?? '';
    // A string ends where its line does: the parser reports the line's end as a character of the string.
    const isOpen = said.startsWith('control characters') && column > (text.split('\n')[line - 1] ?? '').length;
    const why = isOpen || said === 'unfinished string' ? 'a string has no closing quote' : said;
    throw usageError(`${where}, line ${line}, column ${column}: not TOML: ${why}`);
  }
}

import { parse, TomlError } from 'smol-toml';
import { z } from 'zod';
import { usageError } from '../errors.ts';
import type { Environment } from '../types/environment.ts';
import type { AllowRule, BrokerRule, McpServer, UserRule } from '../types/policy.ts';
import { environmentSchema, readEnvironment } from './environment-table.ts';
import { nearest } from './nearest.ts';
import { readValue, type Value } from './read-value.ts';
import { SETTINGS } from './settings.ts';

/** The content of a config.toml or .run-claude.toml: values by the names of settings, and tables without an option. */
export interface FileSettings {
  readonly values: ReadonlyMap<string, Value>;
  readonly brokers: readonly BrokerRule[];
  readonly allowRequests: readonly AllowRule[];
  readonly mcpServers: readonly McpServer[];
  readonly environment: Environment | undefined;
  /** The project's devcontainer.json is part of its request. */
  readonly devcontainer: boolean;
  readonly auditRules: readonly UserRule[];
  readonly auditSeverities: Readonly<Record<string, 'blocked' | 'suspect' | 'note'>>;
}

const severity = z.enum(['blocked', 'suspect', 'note']);
const texts = z.array(z.string().min(1));
const fileSchema = z.strictObject({
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
        })
        .refine((rule) => rule.methods === undefined || rule.requests === undefined, {
          error: 'requests name their methods: leave methods out',
        })
        .transform((rule) => ({ ...rule, methods: rule.methods ?? ['GET', 'HEAD'] })),
    )
    .default([]),
  allow: z.array(z.strictObject({ host: z.string().min(1), requests: texts.min(1) })).default([]),
  mcp: z
    .array(
      z
        .strictObject({
          name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'letters, digits, - and _'),
          url: z.string().min(1),
          header: z.string().min(1).optional(),
          from: texts.min(1).optional(),
          tools: texts.min(1).optional(),
        })
        .refine((server) => (server.header === undefined) === (server.from === undefined), {
          error: 'header and from belong together',
        }),
    )
    .refine((servers) => new Set(servers.map(({ name }) => name)).size === servers.length, {
      error: 'two servers have the same name',
    })
    .default([]),
  environment: environmentSchema.optional(),
  audit: z
    .strictObject({
      rules: z
        .array(z.strictObject({ id: z.string().min(1), paths: texts.min(1), severity, why: z.string().min(1) }))
        .default([]),
      severities: z.record(z.string(), severity).default({}),
    })
    .default({ rules: [], severities: {} }),
});

/** Every key at the top level of a configuration file. */
const FILE_KEYS: readonly string[] = Object.keys(fileSchema.shape);

/**
 * The settings in the text of a configuration file. `where` names the file in messages.
 *
 * @throws {RunClaudeError} USAGE for text that is not TOML, for an unknown key, and for a value that is not allowed
 */
export function readConfigFile(text: string, where: string): FileSettings {
  const parsed = fileSchema.safeParse(parseToml(text, where));
  if (!parsed.success) throw explain(parsed.error, where);
  const { allow, broker, mcp, audit, environment, ...rest } = parsed.data;
  const values = new Map<string, Value>();
  const named: Readonly<Record<string, unknown>> = rest;
  for (const setting of SETTINGS) {
    const raw = named[setting.name];
    if (raw !== undefined) values.set(setting.name, readValue(setting, raw, `${where}: ${setting.name}`));
  }
  return {
    values,
    brokers: broker,
    allowRequests: allow,
    mcpServers: mcp,
    devcontainer: environment?.devcontainer === true,
    environment: environment === undefined ? undefined : readEnvironment(environment, `${where}: environment`),
    auditRules: audit.rules,
    auditSeverities: audit.severities,
  };
}

function parseToml(text: string, where: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw usageError(`${where}, line ${error.line}: ${error.message.split('\n')[0] ?? 'not TOML'}`);
  }
}

function explain(error: z.ZodError, where: string): Error {
  const issue = error.issues[0];
  const at = issue === undefined || issue.path.length === 0 ? where : `${where}: ${issue.path.join('.')}`;
  if (issue?.code !== 'unrecognized_keys') return usageError(`${at}: ${issue?.message ?? 'not allowed'}`);
  const key = issue.keys[0] ?? '';
  const near = issue.path.length === 0 ? nearest(key, FILE_KEYS) : undefined;
  return usageError(
    `${at}: unknown key '${key}'`,
    near === undefined ? 'docs/reference/settings.md lists every key.' : `Did you mean '${near}'?`,
  );
}

import { usageError } from '../errors.ts';
import { localPort } from '../text/local-address.ts';
import { AGENT_NAMES } from '../types/agent/agent-package.ts';
import type { OwnAgent } from '../types/agent/own-agent.ts';
import type { Policy } from '../types/policy.ts';
import { CACHE_NAMES } from '../types/setup/cache.ts';
import type { ProjectRequest } from '../types/setup/request.ts';
import type { FileSettings } from './config-file.ts';
import { projectKey } from './project-key.ts';
import { readValue, type Value, withinLimits } from './read-value.ts';
import { DEFAULTS, SETTINGS, settingNamed, variableOf } from './settings.ts';
import { tighten } from './tighten.ts';
import { EMPTY_ENVIRONMENT, isEmptyEnvironment, joinEnvironments, withFeatures } from './values/environment.ts';
import { nearest } from './values/nearest.ts';
import { resolveVariables } from './values/variables.ts';

/** One option of the command line: the setting that it changes, and the value. */
export interface FlagValue {
  /** As typed, for messages: '--no-sync-back'. */
  readonly flag: string;
  readonly setting: string;
  /** The text, or the value of an option without text. */
  readonly value: string | boolean | readonly string[];
}

/** The settings of a file, with its name in messages. */
export interface NamedSettings {
  readonly where: string;
  readonly settings: FileSettings;
}

export interface PolicySources {
  /** The settings of config.toml; undefined when there is none. */
  readonly config: NamedSettings | undefined;
  /** The settings of the project's .run-claude.toml. */
  readonly projectFile: NamedSettings | undefined;
  /** Lines of the project's .run-claudeignore, as globs. */
  readonly projectIgnore: readonly string[];
  /** What the project's devcontainer.json asks for, where the user or the project wants it read. */
  readonly devcontainer?: ProjectRequest | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The project, whose table of config.toml counts. Undefined while it is not known. */
  readonly root?: string;
  /** A user is at a terminal: the mode of that table counts too. */
  readonly isAttended?: boolean;
  readonly flags: readonly FlagValue[];
}

export interface MergedPolicy {
  readonly policy: Policy;
  /** The source of each value that is not the default: a file, a variable or a flag; several for a list. */
  readonly origins: ReadonlyMap<keyof Policy, string>;
  /** What the project's own file asks for. Nothing of it is in the policy: the user decides. */
  readonly request: ProjectRequest | undefined;
  /** A warning for each value that was ignored. */
  readonly warnings: readonly string[];
}

type Draft = { -readonly [K in keyof Policy]: Policy[K] };

/**
 * The policy from all its sources, in this order: defaults, config.toml, environment, the project's own file (which can
 * only tighten those), flags. Pure.
 *
 * @throws {RunClaudeError} USAGE for an unknown name and for a value that is not allowed
 */
export function mergePolicy(sources: PolicySources): MergedPolicy {
  const draft: Draft = { ...DEFAULTS };
  const origins = new Map<keyof Policy, string>();
  const warnings: string[] = [];
  const set = (name: string, value: Value, origin: string): void =>
    put({ draft, origins }, name, value, origin, sources);

  if (sources.config !== undefined) {
    const { where, settings } = sources.config;
    for (const [name, value] of settings.values) set(name, value, where);
    takeTables(draft, origins, settings, where);
    takeAudit(draft, origins, settings, where);
    refuseForAll(settings, where, sources.root);
    const { root = '', isAttended } = sources;
    const { mode, approved } = settings.projects.get(root) ?? {};
    if (mode !== undefined && isAttended === true) set('mode', mode, `${where}: ${projectKey(root)}, on a terminal`);
    if (approved !== undefined) set('approved', approved, `${where}: ${projectKey(root)}`);
  }
  for (const setting of SETTINGS) {
    const text = setting.environment === false ? undefined : sources.environment[variableOf(setting)];
    if (text !== undefined) set(setting.name, readValue(setting, text, variableOf(setting)), variableOf(setting));
  }
  warnings.push(...unknownVariables(sources.environment));

  if (sources.projectFile !== undefined) {
    const { where, settings } = sources.projectFile;
    const kept = tighten(draft, settings, where);
    for (const [name, value] of kept.values) set(name, value, where);
    takeAudit(draft, origins, kept, where);
    warnings.push(...kept.refused);
  }
  if (sources.projectIgnore.length > 0)
    set('exclude', withinLimits(sources.projectIgnore, '.run-claudeignore'), '.run-claudeignore');

  for (const { flag, setting: name, value } of sources.flags) {
    const setting = settingNamed.get(name);
    if (setting !== undefined) set(name, readValue(setting, value, flag), flag);
  }
  if (draft.mcp === false) Object.assign(draft, { mcpServers: [], mcpPrograms: [] });
  allowLocalServers(draft, origins);
  refuseUnknownAgent(draft.agent, origins.get('agent'), sources.config?.settings.agents ?? []);
  refuseUnknownCache(draft.caches ?? [], origins.get('caches'));
  if (draft.mode === 'bind' && !origins.has('permissions')) draft.permissions = 'ask';
  if ((draft.with ?? []).length > 0) {
    draft.environment = withFeatures(draft.environment, draft.with ?? [], origins.get('with') ?? 'with');
    origins.set('environment', joinOrigins(origins.get('environment'), origins.get('with') ?? 'with'));
  }
  const request = requestOf(sources, draft.network !== 'none');
  if (draft.network === 'none' && (sources.devcontainer?.ports ?? []).length > 0)
    warnings.push('forwardPorts of the devcontainer.json: not with --network none');
  return { policy: draft, origins, request, warnings };
}

/** An MCP server of this machine is a service of it that the session may use. */
function allowLocalServers(draft: Draft, origins: Map<keyof Policy, string>): void {
  const { allowLocal = [] } = draft;
  const named = allowLocal.map((text) => text.split(':')[0]);
  const ports = (draft.mcpServers ?? []).flatMap(({ url }) => localPort(url) ?? []).map(String);
  const added = [...new Set(ports)].filter((port) => !named.includes(port));
  if (added.length === 0 || draft.network !== 'gateway') return;
  draft.allowLocal = [...allowLocal, ...added];
  origins.set('allowLocal', joinOrigins(origins.get('allowLocal'), `${origins.get('mcpServers')}: [[mcp]]`));
}

/** A request that the user agreed to for one project is not agreed to for another one. */
function refuseForAll({ values }: FileSettings, where: string, root = '/path/of/the/project'): void {
  if (values.has('approved'))
    throw usageError(`${where}: approved holds for one project`, `Write it below ${projectKey(root)}.`);
}

/** Everything that the project asks for; undefined where that is nothing. */
function requestOf({ projectFile, devcontainer }: PolicySources, hasGateway: boolean): ProjectRequest | undefined {
  const asked = [projectFile?.settings.environment, devcontainer?.environment].filter((one) => one !== undefined);
  const environment = asked.length === 0 ? undefined : asked.reduce(joinEnvironments);
  const image = devcontainer?.image;
  const services = projectFile?.settings.services ?? [];
  const ports = hasGateway ? (devcontainer?.ports ?? []) : [];
  const isEmpty = environment === undefined || isEmptyEnvironment(environment);
  if (isEmpty && image === undefined && services.length === 0 && ports.length === 0) return undefined;
  return {
    environment: environment ?? EMPTY_ENVIRONMENT,
    ...(image === undefined ? {} : { image }),
    ...(services.length === 0 ? {} : { services }),
    ...(ports.length === 0 ? {} : { ports }),
  };
}

function refuseUnknownAgent(name: string | undefined, origin = '', own: readonly OwnAgent[]): void {
  const known = [...AGENT_NAMES, ...own.map((agent) => agent.name)];
  if (name === undefined || known.includes(name)) return;
  const near = nearest(name, known);
  throw usageError(
    `${origin}: there is no agent '${name}'`,
    near === undefined ? `Write one of: ${known.join(', ')}.` : `Did you mean ${near}?`,
  );
}

function refuseUnknownCache(names: readonly string[], origin = 'cache'): void {
  const unknown = names.find((name) => !CACHE_NAMES.some((known) => known === name));
  if (unknown === 'uv')
    throw usageError(
      `${origin}: uv has no cache, because it installs from the addresses in uv.lock and finds no file elsewhere`,
      'For pip, use the cache pip with the output of: uv export --format requirements-txt',
    );
  if (unknown !== undefined)
    throw usageError(`${origin}: there is no cache '${unknown}'`, `Write one of: ${CACHE_NAMES.join(', ')}.`);
}

/** Sets a value. Lists grow with each source; other values are replaced. */
function put(
  into: { readonly draft: Draft; readonly origins: Map<keyof Policy, string> },
  name: string,
  value: Value,
  origin: string,
  sources: PolicySources,
): void {
  const setting = settingNamed.get(name);
  if (setting === undefined) return;
  const { draft, origins } = into;
  const { key } = setting;
  const before: unknown = draft[key];
  let next: unknown = value;
  if (setting.form.kind === 'variables') {
    next = { ...draft.env, ...resolveVariables(Array.isArray(value) ? value : [], sources.environment, origin) };
  } else if (Array.isArray(value) && Array.isArray(before)) {
    next = [...new Set([...before, ...value])];
  }
  const grows = next !== value && origins.has(key);
  Object.assign(draft, { [key]: next });
  origins.set(key, grows ? joinOrigins(origins.get(key), origin) : origin);
}

function joinOrigins(before: string | undefined, origin: string): string {
  return before === undefined ? origin : `${before}, ${origin}`;
}

/** Sets what only the user's file has: a project's file may have the same tables, and they do not reach this. */
function takeTables(draft: Draft, origins: Map<keyof Policy, string>, file: FileSettings, where: string): void {
  if (file.brokers.length > 0) {
    draft.brokers = [...draft.brokers, ...file.brokers];
    origins.set('brokers', where);
  }
  if (file.allowRequests.length > 0) {
    draft.allowRequests = [...(draft.allowRequests ?? []), ...file.allowRequests];
    origins.set('allowRequests', where);
  }
  if (file.mcpServers.length > 0) {
    draft.mcpServers = file.mcpServers;
    origins.set('mcpServers', where);
  }
  if (file.mcpPrograms.length > 0) {
    draft.mcpPrograms = file.mcpPrograms;
    origins.set('mcpPrograms', where);
  }
  if (file.services.length > 0) {
    draft.services = file.services;
    origins.set('services', where);
  }
  if (file.tests.length > 0) {
    draft.tests = file.tests;
    origins.set('tests', where);
  }
  if (file.scenes.length > 0) {
    draft.scenes = file.scenes;
    origins.set('scenes', where);
  }
  if (file.environment !== undefined) {
    draft.environment = file.environment;
    origins.set('environment', where);
  }
}

function takeAudit(
  draft: Draft,
  origins: Map<keyof Policy, string>,
  file: Pick<FileSettings, 'auditRules' | 'auditSeverities'>,
  where: string,
): void {
  if (file.auditRules.length > 0) {
    draft.auditRules = [...draft.auditRules, ...file.auditRules];
    origins.set('auditRules', where);
  }
  if (Object.keys(file.auditSeverities).length > 0) {
    draft.auditSeverities = { ...draft.auditSeverities, ...file.auditSeverities };
    origins.set('auditSeverities', where);
  }
}

function unknownVariables(environment: PolicySources['environment']): string[] {
  const known = SETTINGS.filter((setting) => setting.environment !== false).map(variableOf);
  return Object.keys(environment)
    .filter((name) => name.startsWith('RUN_CLAUDE_') && !name.startsWith('RUN_CLAUDE_TEST_') && !known.includes(name))
    .map((name) => {
      const near = nearest(name, known);
      return `${name} is not a setting of run-claude${near === undefined ? '' : `; did you mean ${near}?`}`;
    });
}

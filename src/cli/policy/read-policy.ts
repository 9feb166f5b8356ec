import { lstatSync } from 'node:fs';
import path from 'node:path';
import type { PluginTable } from '../../core/config/config-file.ts';
import type { FlagValue, MergedPolicy, NamedSettings } from '../../core/config/merge-policy.ts';
import { mergePolicy } from '../../core/config/merge-policy.ts';
import { usageError } from '../../core/errors.ts';
import { probeProject } from '../../core/host/facts.ts';
import { readSmallFile } from '../../core/host/files/small-file.ts';
import { distrust, pathFoldersIn } from '../../core/host/programs/start-program.ts';
import type { ProjectFacts } from '../../core/types/plan.ts';
import type { Policy } from '../../core/types/policy.ts';
import type { SceneCommand } from '../../core/types/scene.ts';
import { cleanLine } from '../../terminal/clean.ts';
import type { CommandContext } from '../context/context.ts';
import { envFilePath, readVariables, variablesOf } from './env-files.ts';

export interface ProjectPolicy extends MergedPolicy {
  readonly project: ProjectFacts;
  /** What the user's own file lets the plugin for Claude Code leave outside a copy. */
  readonly plugin: Pick<PluginTable, 'passthrough'>;
  /** Every file that was looked for. A later one overrides an earlier one. */
  readonly files: readonly ConfigFile[];
}

/** One file of settings. */
export interface ConfigFile {
  /** Absolute. */
  readonly path: string;
  readonly state: 'read' | 'absent';
}

export interface PolicyOptions {
  /** A user is at a terminal: the mode counts that was chosen there for the project. */
  readonly isAttended?: boolean;
  /** Texts of the project's own files, where they are not those of the folder: of the commit that an audit compares with. */
  readonly projectFiles?: { readonly config: string | undefined; readonly ignore: string | undefined };
}

/**
 * The project, and its policy from all files, the environment and the flags.
 *
 * @throws {RunClaudeError} USAGE for a missing folder, for a file that cannot be read, and as mergePolicy
 */
export async function readPolicy(
  named: string | undefined,
  flags: readonly FlagValue[],
  context: Pick<CommandContext, 'cwd' | 'env' | 'places'>,
  { isAttended = false, projectFiles }: PolicyOptions = {},
): Promise<ProjectPolicy> {
  const folder = path.resolve(context.cwd, named ?? '.');
  const configFile = path.join(context.places.configDir, 'config.toml');
  const configText = readSmallFile(configFile, 'follow');
  const config = await settingsOf(configFile, configText);
  const sources = { config, environment: context.env, flags, projectFile: undefined, projectIgnore: [] };
  const own = mergePolicy(sources);
  const project = probeProject(folder, { repo: own.policy.repo });
  const pathFolders = pathFoldersIn(project.root);
  distrust([project.root]);
  const projectFile = '.run-claude.toml';
  const ofFolder = (name: string): string | undefined => readSmallFile(path.join(project.root, name), 'refuse');
  const projectText = projectFiles === undefined ? ofFolder(projectFile) : projectFiles.config;
  const ignoreFile = path.join(project.root, '.run-claudeignore');
  const ignoreText = projectFiles === undefined ? ofFolder('.run-claudeignore') : projectFiles.ignore;
  const ignore = readIgnore(ignoreText ?? '');
  const ofConfig = config?.settings.values.get('env-file');
  const variables = readEnvFiles(own.policy.envFiles ?? [], { ...context, root: project.root, ofConfig });
  const projectSettings = await settingsOf(projectFile, projectText);
  await refuseSeverities(config, projectSettings);
  const isRead = config?.settings.devcontainer === true || projectSettings?.settings.devcontainer === true;
  const devcontainer = isRead ? await devcontainerOf(project.root) : undefined;
  const merged = mergePolicy({
    ...sources,
    flags: [...variables.flags, ...flags],
    projectFile: projectSettings,
    devcontainer: devcontainer?.asks,
    projectIgnore: ignore.globs,
    root: project.root,
    isAttended,
  });
  const isChecked = CHECKED_KEYS.some((key) => merged.origins.has(key));
  // Most policies have none of these values: what reads them is loaded only for one that does.
  if (isChecked) {
    const { checkValues } = await import('./check-values.ts');
    checkValues(merged, { config, environment: context.env, flags }, context.places.configDir);
  }
  const files = [
    stateOf(configFile, configText),
    stateOf(path.join(project.root, projectFile), projectText),
    stateOf(ignoreFile, ignoreText),
  ];
  const warnings = [...merged.warnings, ...ignore.refused, ...(devcontainer?.unsupported ?? [])];
  const policy: Policy = { ...merged.policy, ...recordedFiles(variables, merged.policy.env) };
  return {
    ...merged,
    policy,
    warnings,
    plugin: config?.settings.plugin ?? { passthrough: [] },
    project: { ...project, ...(pathFolders.length > 0 && { pathFolders }) },
    files,
  };
}

/**
 * The `[[scene]]` tables of the user's configuration as it is now.
 *
 * @throws {RunClaudeError} USAGE for a file that cannot be read
 */
export async function readOwnScenes({ places }: Pick<CommandContext, 'places'>): Promise<readonly SceneCommand[]> {
  const file = path.join(places.configDir, 'config.toml');
  return (await settingsOf(file, readSmallFile(file, 'follow')))?.settings.scenes ?? [];
}

/** What only a later stage reads. */
const CHECKED_KEYS: readonly (keyof Policy)[] = [
  ...(['allowHosts', 'allowAddresses', 'networkPresets', 'allowLocal', 'ports', 'brokers'] as const),
  ...(['allowRequests', 'mcpServers', 'mcpPrograms', 'services', 'profile'] as const),
];

/** Most files set no severity: the rules are loaded only for one that does. */
async function refuseSeverities(config: NamedSettings | undefined, project: NamedSettings | undefined): Promise<void> {
  const tables = [
    ...(config === undefined ? [] : [{ ...config, isProject: false }]),
    ...(project === undefined ? [] : [{ ...project, isProject: true }]),
  ];
  if (tables.every(({ settings }) => Object.keys(settings.auditSeverities).length === 0)) return;
  const { checkSeverities } = await import('./check-severities.ts');
  checkSeverities(tables);
}

/** What the project's devcontainer.json asks for, and a warning for each key that is not carried out. */
async function devcontainerOf(root: string) {
  const { DEVCONTAINER_FILES, readDevcontainer } = await import('../../core/config/devcontainer.ts');
  for (const name of DEVCONTAINER_FILES) {
    const text = readSmallFile(path.join(root, name), 'refuse');
    if (text === undefined) continue;
    const isPresent = (file: string): boolean =>
      lstatSync(path.join(root, file), { throwIfNoEntry: false })?.isFile() === true;
    const { unsupported, ...asks } = readDevcontainer(text, name, isPresent);
    return { asks, unsupported: unsupported.map((line) => cleanLine(`${name}: ${line}`)) };
  }
  return undefined;
}

interface EnvFiles {
  /** Absolute. */
  readonly paths: readonly string[];
  /** The variables of all files, as if they were given with `--env` before all others. */
  readonly flags: readonly FlagValue[];
}

function readEnvFiles(
  names: readonly string[],
  {
    cwd,
    env,
    root,
    ofConfig,
  }: Pick<CommandContext, 'cwd' | 'env'> & { readonly root: string; readonly ofConfig: unknown },
): EnvFiles {
  const read = names.map((named) => {
    const isOfConfig = Array.isArray(ofConfig) && ofConfig.includes(named);
    const file = envFilePath(named, { cwd, env, isOfConfig });
    const words = readVariables(file, root, named);
    if (words === undefined)
      throw usageError(`${isOfConfig ? 'config.toml: env-file' : '--env-file'}: ${named} does not exist`);
    return { file, flag: { flag: `--env-file ${named}`, setting: 'env', value: words } };
  });
  return { paths: read.map(({ file }) => file), flags: read.map(({ flag }) => flag) };
}

/** What a later run needs to read the files again. A value that `--env` overrides is not of a file. */
function recordedFiles({ paths, flags }: EnvFiles, env: Policy['env']): Pick<Policy, 'envFiles' | 'envFileNames'> {
  const ofFiles = variablesOf(flags.flatMap(({ value }) => (Array.isArray(value) ? value : [])));
  const names = Object.keys(ofFiles).filter((name) => env[name] === ofFiles[name]);
  return { envFiles: paths, ...(names.length === 0 ? {} : { envFileNames: names }) };
}

function stateOf(file: string, text: string | undefined): ConfigFile {
  return { path: file, state: text === undefined ? 'absent' : 'read' };
}

/** The settings of a file. Most users have none: the parser is loaded only for one that exists. */
async function settingsOf(where: string, text: string | undefined): Promise<NamedSettings | undefined> {
  if (text === undefined) return undefined;
  const { readConfigFile } = await import('../../core/config/config-file.ts');
  return { where, settings: readConfigFile(text, where) };
}

/** The lines of .run-claudeignore. A line with `!` is refused: it would put paths back, and a project may only tighten. */
function readIgnore(text: string): { readonly globs: readonly string[]; readonly refused: readonly string[] } {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const globs = lines.filter((line) => line !== '' && !line.startsWith('#'));
  return {
    globs: globs.filter((line) => !line.startsWith('!')),
    refused: globs
      .filter((line) => line.startsWith('!'))
      .map((line) => `.run-claudeignore: '${line}' is ignored: a project may only tighten the policy`),
  };
}

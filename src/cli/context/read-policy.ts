import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { readEnvFile } from '../../config/env-file.ts';
import type { FlagValue, MergedPolicy, NamedSettings } from '../../config/merge-policy.ts';
import { mergePolicy } from '../../config/merge-policy.ts';
import { usageError } from '../../errors.ts';
import { probeProject } from '../../host/facts.ts';
import type { ProjectFacts } from '../../types/plan.ts';
import type { CommandContext } from './context.ts';

const MAX_FILE_BYTES = 1_048_576;

export interface ProjectPolicy extends MergedPolicy {
  readonly project: ProjectFacts;
  /** Every file that was looked for. A later one overrides an earlier one. */
  readonly files: readonly ConfigFile[];
}

/** One file of settings. */
export interface ConfigFile {
  /** Absolute. */
  readonly path: string;
  readonly state: 'read' | 'absent';
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
): Promise<ProjectPolicy> {
  const folder = path.resolve(context.cwd, named ?? '.');
  const configFile = path.join(context.places.configDir, 'config.toml');
  const configText = readSmallFile(configFile, 'follow');
  const config = await settingsOf(configFile, configText);
  const sources = { config, environment: context.env, flags, projectFile: undefined, projectIgnore: [] };
  const own = mergePolicy(sources);
  const project = probeProject(folder, { repo: own.policy.repo });
  const projectFile = '.run-claude.toml';
  const projectText = readSmallFile(path.join(project.root, projectFile), 'refuse');
  const ignoreFile = path.join(project.root, '.run-claudeignore');
  const ignoreText = readSmallFile(ignoreFile, 'refuse');
  const ignore = readIgnore(ignoreText ?? '');
  const variables = envFileFlags(own.policy.envFiles ?? [], context);
  const projectSettings = await settingsOf(projectFile, projectText);
  const isRead = config?.settings.devcontainer === true || projectSettings?.settings.devcontainer === true;
  const devcontainer = isRead ? await devcontainerOf(project.root) : undefined;
  const merged = mergePolicy({
    ...sources,
    flags: [...variables, ...flags],
    projectFile: projectSettings,
    devcontainer: devcontainer?.asks,
    projectIgnore: ignore.globs,
  });
  const files = [
    stateOf(configFile, configText),
    stateOf(path.join(project.root, projectFile), projectText),
    stateOf(ignoreFile, ignoreText),
  ];
  const warnings = [...merged.warnings, ...ignore.refused, ...(devcontainer?.unsupported ?? [])];
  return { ...merged, warnings, project, files };
}

/** What the project's devcontainer.json asks for, and a warning for each key that is not carried out. */
async function devcontainerOf(root: string) {
  const { DEVCONTAINER_FILES, readDevcontainer } = await import('../../config/devcontainer.ts');
  for (const name of DEVCONTAINER_FILES) {
    const text = readSmallFile(path.join(root, name), 'refuse');
    if (text === undefined) continue;
    const isPresent = (file: string): boolean =>
      lstatSync(path.join(root, file), { throwIfNoEntry: false })?.isFile() === true;
    const { unsupported, ...asks } = readDevcontainer(text, name, isPresent);
    return { asks, unsupported: unsupported.map((line) => `${name}: ${line}`) };
  }
  return undefined;
}

/** The variables of `env-file`, as if they were given with `--env` before all others. */
function envFileFlags(files: readonly string[], { cwd, env }: Pick<CommandContext, 'cwd' | 'env'>): FlagValue[] {
  return files.map((named) => {
    const file = path.resolve(cwd, named.replace(/^~(?=\/)/, env['HOME'] ?? '~'));
    const text = readSmallFile(file, 'follow');
    if (text === undefined) throw usageError(`env-file: ${named} does not exist`);
    return { flag: `env-file ${named}`, setting: 'env', value: readEnvFile(text, named) };
  });
}

function stateOf(file: string, text: string | undefined): ConfigFile {
  return { path: file, state: text === undefined ? 'absent' : 'read' };
}

/** The settings of a file. Most users have none: the parser is loaded only for one that exists. */
async function settingsOf(where: string, text: string | undefined): Promise<NamedSettings | undefined> {
  if (text === undefined) return undefined;
  const { readConfigFile } = await import('../../config/config-file.ts');
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

/** The text of a small regular file; undefined when there is none. Never blocks at a FIFO. Links are refused in a project. */
export function readSmallFile(file: string, links: 'follow' | 'refuse'): string | undefined {
  let fd: number;
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK | (links === 'refuse' ? constants.O_NOFOLLOW : 0));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw usageError(`cannot read ${file}: ${code === 'ELOOP' ? 'it is a symbolic link' : (code ?? 'unknown error')}`);
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw usageError(`${file} is not a regular file`);
    if (stat.size > MAX_FILE_BYTES) throw usageError(`${file} is larger than 1 MB`);
    return readFileSync(fd, 'utf8');
  } finally {
    closeSync(fd);
  }
}

import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { FlagValue, MergedPolicy, NamedSettings } from '../../config/merge-policy.ts';
import { mergePolicy } from '../../config/merge-policy.ts';
import { usageError } from '../../errors.ts';
import { probeProject } from '../../host/facts.ts';
import type { ProjectFacts } from '../../types/plan.ts';
import type { CommandContext } from './context.ts';

const MAX_BYTES = 1_048_576;

export interface ProjectPolicy extends MergedPolicy {
  readonly project: ProjectFacts;
  /** Every file that was looked for, in the order in which they count. */
  readonly files: readonly ConfigFile[];
}

/** One file of settings. */
export interface ConfigFile {
  /** Absolute. */
  readonly path: string;
  readonly state: 'read' | 'absent';
}

/**
 * The project that is meant, and the policy for it out of all files, the environment and the flags.
 * Throws usageError for a missing folder, and as mergePolicy does.
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
  const merged = mergePolicy({
    ...sources,
    projectFile: await settingsOf(projectFile, projectText),
    projectIgnore: ignore.globs,
  });
  const files = [
    stateOf(configFile, configText),
    stateOf(path.join(project.root, projectFile), projectText),
    stateOf(ignoreFile, ignoreText),
  ];
  return { ...merged, warnings: [...merged.warnings, ...ignore.refused], project, files };
}

function stateOf(file: string, text: string | undefined): ConfigFile {
  return { path: file, state: text === undefined ? 'absent' : 'read' };
}

/** Loads what reads such files where there is one: most people have none. */
async function settingsOf(where: string, text: string | undefined): Promise<NamedSettings | undefined> {
  if (text === undefined) return undefined;
  const { readConfigFile } = await import('../../config/config-file.ts');
  return { where, settings: readConfigFile(text, where) };
}

/** Lines of .run-claudeignore; a line with `!` would put something back in, which is not a project's to do. */
function readIgnore(text: string): { readonly globs: readonly string[]; readonly refused: readonly string[] } {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const said = lines.filter((line) => line !== '' && !line.startsWith('#'));
  return {
    globs: said.filter((line) => !line.startsWith('!')),
    refused: said.filter((line) => line.startsWith('!')).map((line) => `.run-claudeignore: '${line}' loosens; ignored`),
  };
}

/** A small regular file's text; undefined when there is none. Never waits at a FIFO; a project's link is refused. */
function readSmallFile(file: string, links: 'follow' | 'refuse'): string | undefined {
  let fd: number;
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK | (links === 'refuse' ? constants.O_NOFOLLOW : 0));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw usageError(`cannot read ${file}: ${code === 'ELOOP' ? 'it is a link' : (code ?? 'unknown')}`);
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw usageError(`${file} is no file`);
    if (stat.size > MAX_BYTES) throw usageError(`${file} is larger than 1 MB`);
    return readFileSync(fd, 'utf8');
  } finally {
    closeSync(fd);
  }
}

import path from 'node:path';
import { DEFAULT_ENGINE } from '../../core/config/default-engine.ts';
import { nearest } from '../../core/config/values/nearest.ts';
import { usageError } from '../../core/errors.ts';
import { readSmallFile } from '../../core/host/files/small-file.ts';
import type { NamedEngine } from '../../core/types/engine.ts';

/**
 * The engines of the user's config.toml. A project's file has none.
 *
 * @throws {RunClaudeError} USAGE for a file that is not allowed
 */
export async function namedEngines(configDir: string): Promise<readonly NamedEngine[]> {
  const file = path.join(configDir, 'config.toml');
  const text = readSmallFile(file, 'follow');
  // Most files name no engine, and the parser is loaded only for one that does.
  if (text === undefined || !/\bengine\b/.test(text)) return [];
  const { readConfigFile } = await import('../../core/config/config-file.ts');
  return readConfigFile(text, file).engines;
}

/**
 * The engine of that name.
 *
 * @throws {RunClaudeError} USAGE where there is none, and as namedEngines
 */
export async function engineNamed(name: string, configDir: string): Promise<NamedEngine> {
  const engines = await namedEngines(configDir);
  const found = engines.find((engine) => engine.name === name);
  if (found !== undefined) return found;
  const names = [DEFAULT_ENGINE, ...engines.map((engine) => engine.name)];
  const near = nearest(name, names);
  throw usageError(
    `there is no engine '${name}'`,
    near === undefined
      ? `Add it to ${path.join(configDir, 'config.toml')}: [engine.NAME] with host = "ssh://USER@HOST".`
      : `Did you mean ${near}?`,
  );
}

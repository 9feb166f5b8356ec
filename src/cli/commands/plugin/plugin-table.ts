import path from 'node:path';
import type { PluginTable } from '../../../core/config/config-file.ts';
import { readSmallFile } from '../../../core/host/files/small-file.ts';
import type { CommandContext } from '../../context/context.ts';

/**
 * The `[plugin]` table of the user's configuration file, and the file's path. No other file can set it.
 *
 * @throws {RunClaudeError} USAGE as readConfigFile
 */
export async function readPluginTable({ places }: CommandContext): Promise<PluginTable & { readonly file: string }> {
  const file = path.join(places.configDir, 'config.toml');
  const text = readSmallFile(file, 'follow');
  if (text === undefined) return { file, passthrough: [], tools: [] };
  const { readConfigFile } = await import('../../../core/config/config-file.ts');
  return { file, ...readConfigFile(text, file).plugin };
}

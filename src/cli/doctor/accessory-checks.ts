import path from 'node:path';
import type { PluginTable } from '../../core/config/config-file.ts';
import { RunClaudeError } from '../../core/errors.ts';
import { readSmallFile } from '../../core/host/files/small-file.ts';
import type { McpProgram, McpServer } from '../../core/types/policy.ts';
import { type ProgramPlace, serverErrors } from '../../session/stage/servers/usable-servers.ts';
import type { CommandContext } from '../context/context.ts';
import { entryProblem } from '../plugin/passthrough.ts';
import { readPolicy } from '../policy/read-policy.ts';
import { type Check, fault, ok, warning } from './check.ts';

/** What a session starts without where it cannot be used. */
export interface UserAccessories {
  readonly mcpServers: readonly McpServer[];
  readonly mcpPrograms: readonly McpProgram[];
  readonly plugin: Pick<PluginTable, 'passthrough'>;
}

const NONE: UserAccessories = { mcpServers: [], mcpPrograms: [], plugin: { passthrough: [] } };

/**
 * The accessories of the user's configuration file, and a fault where no session could start in the current folder with
 * what its files, the user's own and the environment set.
 */
export async function readAccessories(
  context: Pick<CommandContext, 'places' | 'cwd' | 'env'>,
): Promise<UserAccessories & { readonly checks: readonly Check[] }> {
  const file = path.join(context.places.configDir, 'config.toml');
  try {
    const text = readSmallFile(file, 'follow');
    await readPolicy(undefined, [], context);
    if (text === undefined) return { ...NONE, checks: [] };
    const { readConfigFile } = await import('../../core/config/config-file.ts');
    return { ...readConfigFile(text, file), checks: [] };
  } catch (error) {
    if (!(error instanceof RunClaudeError)) throw error;
    return { ...NONE, checks: [fault('configuration', error.message, error.hint ?? `Correct ${file}.`)] };
  }
}

/**
 * A warning for each accessory that sessions are started without. Runs no command of the user: whether one prints a secret
 * is known at the start of a session only.
 */
export async function accessoryChecks(
  { mcpServers, mcpPrograms, plugin }: UserAccessories,
  place: ProgramPlace,
  dataDir: string,
): Promise<readonly Check[]> {
  const found = await serverErrors({ mcpServers, mcpPrograms }, place, dataDir);
  const warnings = found.flatMap(({ name, error }) =>
    error === undefined ? [] : [warning('mcp', `${name}: ${error.message}`, error.hint ?? 'Or use --no-mcp.')],
  );
  const usable = found.length - warnings.length;
  const refused = plugin.passthrough.flatMap((entry) => {
    const problem = entryProblem(entry);
    return problem === undefined
      ? []
      : [warning('passthrough', `${entry}: ${problem}`, 'Change it in [plugin] of config.toml.')];
  });
  return [...(usable === 0 ? [] : [ok('mcp', `${usable} of ${found.length} can be used`)]), ...warnings, ...refused];
}

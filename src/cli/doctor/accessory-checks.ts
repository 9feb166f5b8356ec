import path from 'node:path';
import type { PluginTable } from '../../core/config/config-file.ts';
import { RunClaudeError } from '../../core/errors.ts';
import { readSmallFile } from '../../core/host/small-file.ts';
import type { McpProgram, McpServer, Policy } from '../../core/types/policy.ts';
import { type ProgramPlace, programDirectory } from '../../session/stage/ready-program.ts';
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

/**
 * The names of the MCP servers that a session starts without, as far as it is known before. Runs no command of the user.
 */
export async function leftOutServers(
  servers: Pick<Policy, 'mcpServers' | 'mcpPrograms'>,
  place: ProgramPlace,
  dataDir: string,
): Promise<readonly string[]> {
  const found = await serverErrors(servers, place, dataDir);
  return found.filter(({ error }) => error !== undefined).map(({ name }) => name);
}

function serverErrors(
  { mcpServers = [], mcpPrograms = [] }: Pick<Policy, 'mcpServers' | 'mcpPrograms'>,
  place: ProgramPlace,
  dataDir: string,
) {
  return Promise.all([
    ...mcpServers.map(async (server) => ({ name: server.name, error: await loginError(server, dataDir) })),
    ...mcpPrograms.map(async (program) => ({ name: program.name, error: directoryError(program, place) })),
  ]);
}

async function loginError({ name, url, oauth }: McpServer, dataDir: string): Promise<RunClaudeError | undefined> {
  if (oauth !== true) return undefined;
  const [{ loginProblem }, { loginStore }] = await Promise.all([
    import('../../agents/mcp-login/login-source.ts'),
    import('../../agents/mcp-login/login-store.ts'),
  ]);
  return loginProblem(loginStore(dataDir, name), url);
}

function directoryError(program: McpProgram, place: ProgramPlace): RunClaudeError | undefined {
  try {
    programDirectory(program, place);
    return undefined;
  } catch (error) {
    if (error instanceof RunClaudeError) return error;
    throw error;
  }
}

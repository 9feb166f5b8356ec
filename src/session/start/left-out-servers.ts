import type { RunClaudeError } from '../../core/errors.ts';
import type { McpServer, Policy } from '../../core/types/policy.ts';
import { directoryError, type ProgramPlace } from '../stage/ready-program.ts';

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

/** Every MCP server of a policy, and why a session starts without it; undefined: it can be used. Runs no command of the user. */
export function serverErrors(
  { mcpServers = [], mcpPrograms = [] }: Pick<Policy, 'mcpServers' | 'mcpPrograms'>,
  place: ProgramPlace,
  dataDir: string,
): Promise<readonly { readonly name: string; readonly error: RunClaudeError | undefined }[]> {
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

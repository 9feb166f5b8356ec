import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { RunClaudeError, usageError } from '../../../core/errors.ts';
import { truePath } from '../../../core/host/files/true-path.ts';
import type { McpProgram, McpServer, Policy } from '../../../core/types/policy.ts';
import { outputOf } from '../../../network/gateway/rules/brokers.ts';

/** An MCP server that is a program, with everything that its container is made of. */
export interface ReadyProgram {
  readonly program: McpProgram;
  /** Real path. */
  readonly directory: string | undefined;
  readonly secrets: Readonly<Record<string, string>>;
}

/** Where programs would run. */
export interface ProgramPlace {
  /** Folders that the agent writes to. The first one is the project. */
  readonly roots: readonly string[];
  /** The engine reads the directories of this machine. */
  readonly isLocal: boolean;
}

/**
 * A program with its directory and the values of its secrets.
 *
 * @throws {RunClaudeError} USAGE for a directory that cannot be used, BROKER_FAILED when the command of a secret fails
 */
export async function readyProgram(program: McpProgram, place: ProgramPlace): Promise<ReadyProgram> {
  const directory = programDirectory(program, place);
  return { program, directory, secrets: await secretsOf(program) };
}

async function secretsOf({ name, secrets }: McpProgram): Promise<Readonly<Record<string, string>>> {
  const values = Object.entries(secrets).map(
    async ([variable, from]) => [variable, await outputOf(from, `[[mcp]] ${name}: ${variable}`, 'value')] as const,
  );
  return Object.fromEntries(await Promise.all(values));
}

/**
 * The real path of a program's directory; undefined where it names none. What the agent can change must not be the program
 * that gets the secret.
 *
 * @throws {RunClaudeError} USAGE for a directory that cannot be used
 */
export function programDirectory(
  { name, directory }: Pick<McpProgram, 'name' | 'directory'>,
  { roots, isLocal }: ProgramPlace,
): string | undefined {
  if (directory === undefined) return undefined;
  const where = `[[mcp]] ${name}: ${directory}`;
  if (!existsSync(directory) || !statSync(directory).isDirectory())
    throw usageError(`${where} is not a directory`, 'Name the directory that has the server.');
  if (!isLocal)
    throw usageError(
      `${where} is not on the engine's machine`,
      'Leave directory out: the image has to have the server.',
    );
  const real = truePath(directory);
  const shared = roots.find((root) => isBelow(root, real) || isBelow(real, root));
  if (shared !== undefined)
    throw usageError(
      `${where} and ${shared === roots[0] ? 'the project' : shared} are in each other`,
      'The agent could change the server. Keep it elsewhere.',
    );
  return real;
}

/** Whether a directory is another one, or is in it. */
function isBelow(dir: string, above: string): boolean {
  const from = path.relative(above, dir);
  return from !== '..' && !from.startsWith('../');
}

/** Why sessions leave a program out, where its directory is the cause. */
export function directoryError(program: McpProgram, place: ProgramPlace): RunClaudeError | undefined {
  try {
    programDirectory(program, place);
    return undefined;
  } catch (error) {
    if (error instanceof RunClaudeError) return error;
    throw error;
  }
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
    import('../../../agents/mcp-login/login-source.ts'),
    import('../../../agents/mcp-login/login-store.ts'),
  ]);
  return loginProblem(loginStore(dataDir, name), url);
}

import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { RunClaudeError, usageError } from '../../core/errors.ts';
import { truePath } from '../../core/host/files/true-path.ts';
import type { McpProgram } from '../../core/types/policy.ts';
import { outputOf } from '../../network/gateway/rules/brokers.ts';

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

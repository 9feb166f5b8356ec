import { randomBytes } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { type CompanionProgram, companionContainer, openCompanion } from '../../companion/companion.ts';
import { socketsInside } from '../../companion/companion-place.ts';
import { INSIDE } from '../../engine/hardening/hardened.ts';
import { usageError } from '../../errors.ts';
import { PROXY_PORT, proxyEnv } from '../../gateway/agent-side.ts';
import { outputOf } from '../../gateway/rules/brokers.ts';
import { companionName, servedPrograms } from '../../gateway/rules/program-host.ts';
import { truePath } from '../../host/true-path.ts';
import type { ContainerSpec } from '../../types/engine.ts';
import type { Plan } from '../../types/plan.ts';
import type { McpProgram } from '../../types/policy.ts';
import { allOrFirstFailure } from './all-or-first-failure.ts';
import type { CleanupGroup } from './cleanup-stack.ts';
import type { SessionDeps } from './deps.ts';

/** The directory of an MCP server that is a program, in its container. */
const DIRECTORY = '/srv';
const LIMITS = { memoryMb: 1024, cpus: 0, pids: 256, tmpMb: 256 };

const TOKEN_BYTES = 32;

/**
 * Starts the containers of the plan's MCP servers that are programs. The gateway mounts their volumes, so it comes later.
 * Returns what each of them wants to be shown with a request, by the server's name. Also where this throws, what was
 * started is in `group`.
 *
 * @throws {RunClaudeError} BROKER_FAILED when the command of a secret fails, USAGE for a directory, or the engine's error
 */
export async function startMcpCompanions(
  { policy, sessionId, image, project, also = [] }: Plan,
  { engine, tell }: Pick<SessionDeps, 'engine' | 'tell'>,
  seccomp: string,
  group: CleanupGroup,
): Promise<ReadonlyMap<string, string>> {
  const session = { sessionId, image, seccomp, runtime: policy.runtime };
  const writable = [project, ...also.filter(({ isReadonly }) => !isReadonly).map((folder) => folder.project)];
  const roots = writable.map(({ root }) => root);
  const programs = servedPrograms(policy);
  const tokens = new Map(programs.map(({ name }) => [name, randomBytes(TOKEN_BYTES).toString('hex')]));
  // What the user has to put right is found before any container is made.
  const wanted = await allOrFirstFailure(
    programs.map(async (program) => {
      const directory = directoryOf(program, roots, engine.facts.local);
      return companionOf(program, directory, await secretsOf(program), tokens.get(program.name));
    }),
  );
  await allOrFirstFailure(
    wanted.map(async (what) => {
      const companion = group.use(await openCompanion(engine, session, what, tell), (one) => one.stop());
      await companion.start();
    }),
  );
  return tokens;
}

/** The containers of a plan that is not started. */
export function plannedCompanions(
  { policy, sessionId, image }: Pick<Plan, 'policy' | 'sessionId' | 'image'>,
  seccomp: string,
): readonly ContainerSpec[] {
  const session = { sessionId, image, seccomp, runtime: policy.runtime };
  return servedPrograms(policy).map((program) =>
    companionContainer(session, companionOf(program, program.directory, {})),
  );
}

function companionOf(
  { name, command, hosts, env }: McpProgram,
  directory: string | undefined,
  secrets: Readonly<Record<string, string>>,
  token?: string,
): CompanionProgram {
  const isOnline = hosts.length > 0;
  const at = directory === undefined ? '/tmp' : DIRECTORY;
  return {
    name: companionName(name),
    argv: ['/usr/bin/env', 'node', `${INSIDE}/companion/mcp-stdio.mjs`, socketsInside.own, at, ...command],
    env: isOnline ? proxyEnv(`http://127.0.0.1:${PROXY_PORT}`) : {},
    input: { env: { ...env, ...secrets }, token },
    mounts: directory === undefined ? [] : [{ kind: 'bind', source: directory, target: DIRECTORY, readonly: true }],
    forwards: isOnline ? [`${PROXY_PORT}=${socketsInside.out}`] : [],
    limits: LIMITS,
  };
}

async function secretsOf({ name, secrets }: McpProgram): Promise<Readonly<Record<string, string>>> {
  const values = Object.entries(secrets).map(
    async ([variable, from]) => [variable, await outputOf(from, `[[mcp]] ${name}: ${variable}`, 'value')] as const,
  );
  return Object.fromEntries(await Promise.all(values));
}

/** What the agent can change must not be the program that gets the secret. */
function directoryOf({ name, directory }: McpProgram, roots: readonly string[], isLocal: boolean): string | undefined {
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

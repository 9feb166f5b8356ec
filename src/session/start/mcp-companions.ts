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
import type { CleanupGroup } from './cleanup-stack.ts';
import type { SessionDeps } from './deps.ts';

/** The directory of an MCP server that is a program, in its container. */
const DIRECTORY = '/srv';
const LIMITS = { memoryMb: 1024, cpus: 0, pids: 256, tmpMb: 256 };

/**
 * Starts the containers of the plan's MCP servers that are programs. The gateway mounts their volumes, so it comes later.
 *
 * @throws {RunClaudeError} BROKER_FAILED when the command of a secret fails, USAGE for a directory, or the engine's error
 */
export async function startMcpCompanions(
  { policy, sessionId, image, project }: Plan,
  { engine, tell }: Pick<SessionDeps, 'engine' | 'tell'>,
  seccomp: string,
  group: CleanupGroup,
): Promise<void> {
  const session = { sessionId, image, seccomp, runtime: policy.runtime };
  await Promise.all(
    servedPrograms(policy).map(async (program) => {
      const directory = directoryOf(program, project.root, engine.facts.local);
      const what = companionOf(program, directory, await secretsOf(program));
      const companion = await openCompanion(engine, session, what, tell);
      group.use(companion, (one) => one.stop());
      await companion.start();
    }),
  );
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
): CompanionProgram {
  const isOnline = hosts.length > 0;
  const at = directory === undefined ? '/tmp' : DIRECTORY;
  return {
    name: companionName(name),
    argv: ['/usr/bin/env', 'node', `${INSIDE}/companion/mcp-stdio.mjs`, socketsInside.own, at, ...command],
    env: isOnline ? proxyEnv(`http://127.0.0.1:${PROXY_PORT}`) : {},
    input: { env: { ...env, ...secrets } },
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
function directoryOf({ name, directory }: McpProgram, root: string, isLocal: boolean): string | undefined {
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
  if (isBelow(root, real) || isBelow(real, root))
    throw usageError(
      `${where} and the project are in each other`,
      'The agent could change the server. Keep it elsewhere.',
    );
  return real;
}

/** Whether a directory is another one, or is in it. */
function isBelow(dir: string, above: string): boolean {
  const from = path.relative(above, dir);
  return from !== '..' && !from.startsWith('../');
}

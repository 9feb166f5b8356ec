import { randomBytes } from 'node:crypto';
import type { ContainerSpec } from '../../../core/types/engine.ts';
import type { Plan } from '../../../core/types/plan.ts';
import type { McpProgram } from '../../../core/types/policy.ts';
import { INSIDE } from '../../../engines/engine/hardening/hardened.ts';
import { type CompanionProgram, companionContainer, openCompanion } from '../../../network/companion/companion.ts';
import { socketsInside } from '../../../network/companion/companion-place.ts';
import { PROXY_PORT, proxyEnv } from '../../../network/gateway/agent-side.ts';
import { companionName, servedPrograms } from '../../../network/gateway/rules/program-host.ts';
import { allOrFirstFailure } from '../all-or-first-failure.ts';
import type { CleanupGroup } from '../cleanup-stack.ts';
import type { SessionDeps } from '../deps.ts';
import type { ReadyProgram } from './usable-servers.ts';

/** The directory of an MCP server that is a program, in its container. */
const DIRECTORY = '/srv';
const LIMITS = { memoryMb: 1024, cpus: 0, pids: 256, tmpMb: 256 };

const TOKEN_BYTES = 32;

/**
 * Starts the containers of MCP servers that are programs. The gateway mounts their volumes, so it comes later. Returns what
 * each of them wants to be shown with a request, by the server's name. Also where this throws, what was started is in
 * `group`.
 *
 * @throws {RunClaudeError} the engine's error
 */
export async function startMcpCompanions(
  { policy, sessionId, image }: Pick<Plan, 'policy' | 'sessionId' | 'image'>,
  { engine, tell }: Pick<SessionDeps, 'engine' | 'tell'>,
  seccomp: string,
  programs: readonly ReadyProgram[],
  group: CleanupGroup,
): Promise<ReadonlyMap<string, string>> {
  const session = { sessionId, image, seccomp, runtime: policy.runtime };
  const tokens = new Map(programs.map(({ program }) => [program.name, randomBytes(TOKEN_BYTES).toString('hex')]));
  await allOrFirstFailure(
    programs.map(async ({ program, directory, secrets }) => {
      const what = companionOf(program, directory, secrets, tokens.get(program.name));
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

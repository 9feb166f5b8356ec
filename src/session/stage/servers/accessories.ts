import { RunClaudeError } from '../../../core/errors.ts';
import type { CredentialSource } from '../../../core/types/agent/credential.ts';
import type { BrokeredHost } from '../../../core/types/gateway.ts';
import type { Plan } from '../../../core/types/plan.ts';
import type { McpProgram, McpServer } from '../../../core/types/policy.ts';
import { brokeredHost, resolveBroker, resolveServer } from '../../../network/gateway/rules/brokers.ts';
import { isRemote } from '../../../network/gateway/rules/mcp-servers.ts';
import { servedPrograms } from '../../../network/gateway/rules/program-host.ts';
import type { SessionDeps } from '../deps.ts';
import { type ReadyProgram, readyProgram } from './usable-servers.ts';

/** What a session uses of the user's configuration where it can, and starts without where it cannot. */
export interface Accessories {
  /** The plan without the MCP servers that cannot be used. */
  readonly plan: Plan;
  /** The hosts of brokers and MCP servers, with their secrets. */
  readonly brokered: readonly BrokeredHost[];
  readonly programs: readonly ReadyProgram[];
  readonly mcpLogins: ReadonlyMap<string, CredentialSource>;
}

/**
 * Finds the secrets, logins and directories of the plan's MCP servers and brokers. A server that cannot be used is left out.
 * The host of a broker whose secret cannot be had stays as narrow as its rule, without the secret. One warning for each.
 */
export async function findAccessories(plan: Plan, deps: SessionDeps): Promise<Accessories> {
  const { policy, project, also = [] } = plan;
  if (policy.network === 'none') return { plan, brokered: [], programs: [], mcpLogins: new Map() };
  const leftOut = (what: string, { message, hint }: RunClaudeError): undefined => {
    const text = `${what}: ${[message.split('\n')[0], hint].filter(Boolean).join('. ')}`;
    deps.tell({ kind: 'message', level: 'warning', text });
    return undefined;
  };
  const withoutServer = (name: string) => (error: unknown) =>
    leftOut(`MCP server ${name} is left out`, knownError(error));
  const mcpLogins = await loginsOf(plan, deps);
  const writable = also.filter(({ isReadonly }) => !isReadonly).map((folder) => folder.project.root);
  const place = { roots: [project.root, ...writable], isLocal: deps.engine.facts.local };
  const [brokers, servers, programs] = await Promise.all([
    Promise.all(
      policy.brokers.map((rule) =>
        resolveBroker(rule).catch((error: unknown) => {
          leftOut(`The secret of ${rule.host} is left out`, knownError(error));
          return brokeredHost(rule);
        }),
      ),
    ),
    Promise.all(
      (policy.mcpServers ?? []).map(async (server) =>
        !isRemote(server)
          ? { server, host: undefined }
          : resolveServer(server, mcpLogins).then((host) => ({ server, host }), withoutServer(server.name)),
      ),
    ),
    Promise.all(
      servedPrograms(policy).map((program) => readyProgram(program, place).catch(withoutServer(program.name))),
    ),
  ]);
  const usable = { servers: servers.filter(isKnown), programs: programs.filter(isKnown) };
  return {
    plan: withServers(
      plan,
      usable.servers.map(({ server }) => server),
      usable.programs.map(({ program }) => program),
    ),
    brokered: [...brokers, ...usable.servers.flatMap(({ host }) => host ?? [])],
    programs: usable.programs,
    mcpLogins,
  };
}

/** An error that is not known is a bug: it ends the session. */
function knownError(error: unknown): RunClaudeError {
  if (error instanceof RunClaudeError) return error;
  throw error;
}

const isKnown = <T>(one: T | undefined): one is T => one !== undefined;

function withServers(plan: Plan, mcpServers: readonly McpServer[], mcpPrograms: readonly McpProgram[]): Plan {
  return { ...plan, policy: { ...plan.policy, mcpServers, mcpPrograms } };
}

/** The logins of the plan's MCP servers. Most plans have none. */
async function loginsOf(
  { policy: { mcpServers = [], allowAddresses } }: Plan,
  { env, host }: SessionDeps,
): Promise<ReadonlyMap<string, CredentialSource>> {
  if (!mcpServers.some(({ oauth }) => oauth)) return new Map();
  const { mcpLogins } = await import('../../../agents/mcp-login/login-source.ts');
  return mcpLogins(mcpServers, host.dataDir, { env, allowAddresses });
}

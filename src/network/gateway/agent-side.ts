import { homeAgent } from '../../agents/agents.ts';
import type { CredentialSource } from '../../core/types/agent/credential.ts';
import type { ContainerSpec, Mount } from '../../core/types/engine.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import type { ReadHosts } from './rules/brokers.ts';
import { parseLocalServices } from './rules/local-services.ts';
import { isRemote } from './rules/mcp-servers.ts';

/** Directory of the sockets, in the agent's container and in the gateway's. */
export const GATEWAY_VOLUME = '/run/run-claude/gw';
/** The gateway's directory in it. */
export const GATEWAY_DIR = `${GATEWAY_VOLUME}/sockets`;

/** The socket that the gateway opens last: when it exists, the gateway is ready and the certificate is written. */
const LAST_SOCKET = `${GATEWAY_DIR}/proxy.sock`;

/** Ports on the agent's loopback. Only the agent's programs listen on others. */
const API_PORT = 47_801;
/** Where a container finds its proxy. */
export const PROXY_PORT = 47_802;
/** Where the agent reaches the broker. */
export const BROKER_URL: string = `http://127.0.0.1:${API_PORT}`;

/** The certificate of the session's CA, if there is one. */
const SESSION_CA = `${GATEWAY_DIR}/ca.pem`;

/** Variables that name a file of trusted certificates, for different programs. */
const CA_VARIABLES = [
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'CURL_CA_BUNDLE',
  'REQUESTS_CA_BUNDLE',
  'PIP_CERT',
  'GIT_SSL_CAINFO',
  'CARGO_HTTP_CAINFO',
  'AWS_CA_BUNDLE',
];

/** What the agent's container needs to reach its gateway. */
export interface AgentSide {
  readonly mounts: readonly Mount[];
  readonly env: Readonly<Record<string, string>>;
  /**
   * For init's --until: a file that the program reads when it starts. Without one the program starts before the gateway is
   * ready, and the forwarder holds its first connections.
   */
  readonly until: string | undefined;
  /** For init's --forward: PORT=SOCKET, or from=SOCKET for the other direction. */
  readonly forwards: readonly string[];
  /** Names of 127.0.0.1 besides localhost. */
  readonly loopbackNames: readonly string[];
  readonly agentNetwork: ContainerSpec['network'];
}

/** How the agent reaches its gateway. It contains no secret. `env`: of this process, for the choice of models. */
export function agentSide(
  { sessionId, policy, program }: Pick<Plan, 'sessionId' | 'policy' | 'program'>,
  source: Pick<CredentialSource, 'kind' | 'cloud'> | undefined,
  env: NodeJS.ProcessEnv,
  { gatewayDoor }: Pick<Runtime, 'gatewayDoor'> = {},
): AgentSide {
  if (policy.network === 'none')
    return { mounts: [], env: {}, until: undefined, forwards: [], loopbackNames: [], agentNetwork: 'none' };
  const { volume, network } = gatewayNames(sessionId);
  const broker = policy.credentials === 'broker';
  // Not with `--network open`.
  const proxy = policy.network === 'gateway';
  const locals = parseLocalServices(policy.allowLocal ?? []);
  const localNames = locals.flatMap(({ name }) => (name === undefined ? [] : [name]));
  const direct = [...localNames, ...(policy.services ?? []).map(({ name }) => name)];
  return {
    mounts: [{ kind: 'volume', volume, target: GATEWAY_VOLUME, readonly: true }],
    env: {
      ...(broker ? homeAgent(program).broker.variables(source, BROKER_URL, env) : {}),
      ...(proxy ? proxyEnv(`http://127.0.0.1:${PROXY_PORT}`, direct) : {}),
      ...(endsTls(policy) ? Object.fromEntries(CA_VARIABLES.map((name) => [name, SESSION_CA])) : {}),
    },
    // The forwarder holds no connection to another pod.
    until: endsTls(policy) || gatewayDoor !== undefined ? LAST_SOCKET : undefined,
    forwards: [
      ...(broker ? [`${API_PORT}=${GATEWAY_DIR}/api.sock`] : []),
      ...(proxy ? [`${PROXY_PORT}=${LAST_SOCKET}`] : []),
      ...locals.map(({ port }) => `${port}=${GATEWAY_DIR}/local-${port}.sock`),
      // Always: the user may look at a port that is named later.
      `from=${GATEWAY_DIR}/ports.sock`,
    ],
    loopbackNames: localNames,
    agentNetwork: policy.network === 'open' ? { bridge: network } : 'none',
  };
}

/** Whether the gateway ends TLS for some hosts, with a certificate authority that the agent's container trusts. */
export function endsTls({ brokers, allowRequests = [], mcpServers = [], mcpPrograms = [] }: ReadHosts): boolean {
  return brokers.length + allowRequests.length + mcpServers.filter(isRemote).length + mcpPrograms.length > 0;
}

/** The engine's names of the volume and the network of a session's gateway. */
export function gatewayNames(sessionId: string): { readonly volume: string; readonly network: string } {
  return { volume: `run-claude-${sessionId}-gw`, network: `run-claude-${sessionId}` };
}

/** Variables that hold a program's options: the user's come after run-claude's, and win. */
const OPTION_LISTS: readonly string[] = ['NODE_OPTIONS', 'MAVEN_OPTS', 'GRADLE_OPTS'];

/** The agent's environment: the gateway's variables override the user's. */
export function joinEnv(own: AgentVariables, gateway: AgentVariables): AgentVariables {
  const lists = OPTION_LISTS.filter((name) => own[name] !== undefined && gateway[name] !== undefined);
  const joined = Object.fromEntries(lists.map((name) => [name, `${gateway[name]} ${own[name]}`]));
  return { ...own, ...gateway, ...joined };
}

type AgentVariables = Readonly<Record<string, string>>;

/** The variables by which programs find a proxy. `names`: of 127.0.0.1, which are reached without it. */
export function proxyEnv(url: string, names: readonly string[] = []): Readonly<Record<string, string>> {
  const local = ['127.0.0.1', 'localhost', '::1', ...names].join(',');
  const java = ['http', 'https']
    .map((kind) => `-D${kind}.proxyHost=127.0.0.1 -D${kind}.proxyPort=${PROXY_PORT}`)
    .concat(names.length === 0 ? [] : [`-Dhttp.nonProxyHosts=${['localhost', '127.*', '[::1]', ...names].join('|')}`])
    .join(' ');
  return {
    HTTP_PROXY: url,
    http_proxy: url,
    HTTPS_PROXY: url,
    https_proxy: url,
    ALL_PROXY: url,
    all_proxy: url,
    NO_PROXY: local,
    no_proxy: local,
    // Node's fetch and http read the variables above only with this option.
    NODE_USE_ENV_PROXY: '1',
    NODE_OPTIONS: '--require=/usr/lib/run-claude/quiet-env-proxy.cjs',
    // Java reads none of the variables above.
    MAVEN_OPTS: java,
    GRADLE_OPTS: java,
  };
}

import type { Secret } from '../types/credential.ts';

/** Where the sockets lie, in the agent's container and in the gateway's. */
export const GATEWAY_VOLUME = '/run/run-claude/gw';
/** The gateway's own directory in it: an archive can set the owner of what is in a volume, not of the volume itself. */
export const GATEWAY_DIR = `${GATEWAY_VOLUME}/sockets`;

/** Ports on the agent's loopback; nothing else listens there but the agent's own programs. */
const API_PORT = 47_801;
const PROXY_PORT = 47_802;

/** Stands where the credential would, by kind: long enough to look real to the client, worth nothing elsewhere. */
export const PLACEHOLDERS: Readonly<Record<Secret['kind'], { readonly variable: string; readonly value: string }>> = {
  'api-key': { variable: 'ANTHROPIC_API_KEY', value: 'sk-ant-api03-placeholder-of-run-claude-the-real-one-is-outside' },
  oauth: {
    variable: 'CLAUDE_CODE_OAUTH_TOKEN',
    value: 'sk-ant-oat01-placeholder-of-run-claude-the-real-one-is-outside',
  },
  'auth-token': { variable: 'ANTHROPIC_AUTH_TOKEN', value: 'placeholder-of-run-claude-the-real-one-is-outside' },
};

/** Variables that name a file of certificates to trust, by whoever reads them. */
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

export interface AgentSide {
  /** Credential kind behind the placeholder; undefined: no broker for the agent. */
  readonly credential: Secret['kind'] | undefined;
  /** Requests go through our proxy (not with `--network open`). */
  readonly proxy: boolean;
  /** There is a CA of the session's own. */
  readonly sessionCa: boolean;
}

/** What init joins to the gateway: PORT=SOCKET. */
export function forwards({ credential, proxy }: AgentSide): readonly string[] {
  return [
    ...(credential === undefined ? [] : [`${API_PORT}=${GATEWAY_DIR}/api.sock`]),
    ...(proxy ? [`${PROXY_PORT}=${GATEWAY_DIR}/proxy.sock`] : []),
  ];
}

/** Variables that lead the agent's programs to the gateway. Nothing in them is secret. */
export function agentEnv({ credential, proxy, sessionCa }: AgentSide): Readonly<Record<string, string>> {
  const env: Record<string, string> = {};
  if (credential !== undefined) {
    env['ANTHROPIC_BASE_URL'] = `http://127.0.0.1:${API_PORT}`;
    env[PLACEHOLDERS[credential].variable] = PLACEHOLDERS[credential].value;
  }
  if (proxy) Object.assign(env, proxyEnv(`http://127.0.0.1:${PROXY_PORT}`));
  if (sessionCa) for (const name of CA_VARIABLES) env[name] = `${GATEWAY_DIR}/ca.pem`;
  return env;
}

function proxyEnv(url: string): Readonly<Record<string, string>> {
  const local = '127.0.0.1,localhost,::1';
  const java = ['http', 'https']
    .map((kind) => `-D${kind}.proxyHost=127.0.0.1 -D${kind}.proxyPort=${PROXY_PORT}`)
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
    // Node's own fetch and http look at the variables above only when told to.
    NODE_USE_ENV_PROXY: '1',
    // Java reads none of them.
    MAVEN_OPTS: java,
    GRADLE_OPTS: java,
  };
}

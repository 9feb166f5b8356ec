import { createHash, randomBytes } from 'node:crypto';
import { type Asking, askServer, failed, objectOf, refused } from './ask-server.ts';
import type { McpLogin } from './login-store.ts';
import { discover, type LoginMetadata } from './metadata.ts';
import { openRedirectPage } from './redirect-page.ts';
import { askTokens, type Client, tokensOf } from './tokens.ts';

/** How long the user may take in the browser. */
const LOGIN_MS = 10 * 60_000;

export interface LoginOptions {
  readonly server: string;
  /** The id of a client that was registered by hand. */
  readonly clientId: string | undefined;
  /** In place of the scopes that the server asks for. */
  readonly scopes: readonly string[] | undefined;
  /** Shows the address of the login, and opens it where the user wants that. */
  readonly show: (login: ShownLogin) => Promise<void>;
  readonly signal: AbortSignal;
}

/** A login before the user goes to it. Its texts are the servers'. */
export interface ShownLogin {
  readonly address: string;
  readonly issuer: string;
  readonly scopes: readonly string[];
  /** The port of this machine to which the browser returns. */
  readonly port: string;
}

/**
 * Logs in to an MCP server in the user's browser: the authorization code flow with PKCE.
 *
 * @throws {RunClaudeError} MCP_LOGIN_REFUSED, MCP_LOGIN_FAILED
 */
export async function logIn(options: LoginOptions, asking: Asking): Promise<McpLogin> {
  const { server, show, signal } = options;
  const metadata = await discover(server, asking);
  const { resource, issuer, tokenEndpoint, namesIssuer } = metadata;
  const scopes = options.scopes ?? metadata.scopes;
  const state = randomBytes(32).toString('base64url');
  const verifier = randomBytes(32).toString('base64url');
  await using page = await openRedirectPage({ state, issuer, namesIssuer });
  const client = await clientOf(options.clientId, metadata, page.address, asking);
  const address = new URL(metadata.authorizationEndpoint);
  const words = {
    response_type: 'code',
    client_id: client.id,
    redirect_uri: page.address,
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    resource,
    ...(scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
  };
  for (const [name, word] of Object.entries(words)) address.searchParams.set(name, word);
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(LOGIN_MS)]);
  const answered = page.code(inTime);
  // Awaited when the address was shown.
  answered.catch(() => undefined);
  await show({ address: address.href, issuer, scopes, port: new URL(page.address).port });
  const code = await answered;
  const grant = {
    grant_type: 'authorization_code',
    code,
    redirect_uri: page.address,
    code_verifier: verifier,
    resource,
  };
  const answer = await askTokens(tokenEndpoint, client, grant, asking);
  if (answer.status !== 200) throw failed(`${new URL(issuer).host} gave no token: status ${answer.status}`);
  const { access, refresh, expiresMs } = tokensOf(answer, new URL(issuer).host);
  return { version: 1, server, resource, issuer, tokenEndpoint, client, access, refresh, expiresMs };
}

/** The client that the user names, or a new one (RFC 7591). */
async function clientOf(
  named: string | undefined,
  { registrationEndpoint, issuer }: LoginMetadata,
  redirect: string,
  asking: Asking,
): Promise<Client> {
  if (named !== undefined) return { id: named, method: 'none' };
  const { host } = new URL(issuer);
  if (registrationEndpoint === undefined)
    throw refused(
      `${host} registers no clients by itself`,
      'Register one there by hand, a public client with the redirect http://127.0.0.1/callback, and add --client-id ID.',
    );
  const body = JSON.stringify({
    client_name: 'run-claude',
    redirect_uris: [redirect],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  });
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  const answer = await askServer(registrationEndpoint, { method: 'POST', headers, body }, asking);
  if (answer.status !== 200 && answer.status !== 201)
    throw failed(`${host} did not register run-claude: status ${answer.status}`);
  const { client_id: id, client_secret: secret, token_endpoint_auth_method: method } = objectOf(answer, host);
  if (typeof id !== 'string' || !/^[\x20-\x7e]{1,1024}$/.test(id)) throw failed(`${host} gave no client id`);
  if (typeof secret !== 'string') return { id, method: 'none' };
  return { id, secret, method: method === 'client_secret_post' ? method : 'client_secret_basic' };
}

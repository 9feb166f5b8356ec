import type { JsonObject } from '../../core/text/json-in.ts';
import { type Asking, askServer, failed, objectOf, refused, requireHttps } from './ask-server.ts';

/** What the server and its authorization server say about a login. All of it was checked. */
export interface LoginMetadata {
  /** What the token is for (RFC 8707). */
  readonly resource: string;
  readonly issuer: string;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly registrationEndpoint: string | undefined;
  /** The answer of a login has to name the issuer (RFC 9207). */
  readonly namesIssuer: boolean;
  readonly scopes: readonly string[];
}

/** The message with which a client of MCP begins: a server that wants a login refuses it. */
const FIRST_MESSAGE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'run-claude', version: '1' } },
});

/**
 * Asks the MCP server who gives out its tokens (RFC 9728), and that server for its addresses (RFC 8414, OpenID Connect).
 *
 * @throws {RunClaudeError} MCP_LOGIN_REFUSED for metadata that leads elsewhere, MCP_LOGIN_FAILED where there is none
 */
export async function discover(server: string, asking: Asking): Promise<LoginMetadata> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const first = { method: 'POST', headers, body: FIRST_MESSAGE, headOnly: true } as const;
  const challenge = (await askServer(server, first, asking)).headers['www-authenticate'] ?? '';
  const { issuer, resource, scopes } = await readResource(server, parameterOf(challenge, 'resource_metadata'), asking);
  const found = await readIssuer(issuer, asking);
  const asked = parameterOf(challenge, 'scope')?.split(' ') ?? scopes;
  return { ...found, resource, scopes: asked.filter((scope) => /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/.test(scope)) };
}

/** A parameter of a `WWW-Authenticate: Bearer` header. */
function parameterOf(challenge: string, name: string): string | undefined {
  const match = new RegExp(`\\bBearer\\b.*?[\\s,]${name}\\s*=\\s*(?:"([^"]*)"|([^\\s",]+))`, 'is').exec(challenge);
  return match?.[1] ?? match?.[2];
}

interface ResourceMetadata {
  readonly issuer: string;
  readonly resource: string;
  readonly scopes: readonly string[];
}

async function readResource(server: string, named: string | undefined, asking: Asking): Promise<ResourceMetadata> {
  const { origin, pathname } = new URL(server);
  const path = pathname.replace(/\/$/, '');
  const usual = [...new Set([path, ''])].map((below) => `${origin}/.well-known/oauth-protected-resource${below}`);
  if (named !== undefined && requireHttps(named, 'the metadata of the server').origin !== origin)
    throw refused(`the server names metadata of another host: ${new URL(named).host}`);
  const document = await firstDocument(named === undefined ? usual : [named], asking);
  // Servers of the first version of the protocol give out the tokens themselves.
  if (document === undefined) return { issuer: origin, resource: server, scopes: [] };
  const resource = requireHttps(document['resource'], 'the resource in the metadata of the server');
  const covered = resource.pathname.replace(/\/$/, '');
  if (resource.origin !== origin || !`${path}/`.startsWith(`${covered}/`))
    throw refused(`the metadata of the server is for another address: ${resource.href.slice(0, 200)}`);
  const [issuer] = textsOf(document['authorization_servers']);
  if (issuer === undefined) throw failed('the metadata of the server names no authorization server');
  return { issuer, resource: String(document['resource']), scopes: textsOf(document['scopes_supported']) };
}

async function readIssuer(issuer: string, asking: Asking): Promise<Omit<LoginMetadata, 'resource' | 'scopes'>> {
  const { origin, pathname } = requireHttps(issuer, 'the authorization server');
  const path = pathname.replace(/\/$/, '');
  const places = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ];
  const document = await firstDocument([...new Set(places)], asking);
  if (document === undefined) throw failed(`${new URL(issuer).host} has no metadata of an authorization server`);
  const own = requireHttps(document['issuer'], 'the name of the authorization server');
  if (own.href.replace(/\/$/, '') !== new URL(issuer).href.replace(/\/$/, ''))
    throw refused(`the authorization server ${issuer} has the metadata of another: ${own.href.slice(0, 200)}`);
  // Otherwise a server could have the user log in elsewhere, and redeem the code there by itself.
  const endpoint = (name: string): string => {
    const url = requireHttps(document[name], `${name} of the authorization server`);
    if (url.origin !== origin) throw refused(`${name} of ${new URL(issuer).host} is on another host: ${url.host}`);
    return url.href;
  };
  if (!textsOf(document['code_challenge_methods_supported']).includes('S256'))
    throw refused(`${new URL(issuer).host} does not support PKCE with S256, which protects the login`);
  return {
    issuer: String(document['issuer']),
    authorizationEndpoint: endpoint('authorization_endpoint'),
    tokenEndpoint: endpoint('token_endpoint'),
    registrationEndpoint:
      document['registration_endpoint'] === undefined ? undefined : endpoint('registration_endpoint'),
    namesIssuer: document['authorization_response_iss_parameter_supported'] === true,
  };
}

/** The first of several documents that exists. */
async function firstDocument(addresses: readonly string[], asking: Asking): Promise<JsonObject | undefined> {
  for (const address of addresses) {
    const answer = await askServer(address, { method: 'GET', headers: { accept: 'application/json' } }, asking);
    if (answer.status === 200) return objectOf(answer, address);
    if (answer.status >= 500) throw failed(`${address}: status ${answer.status}`);
  }
  return undefined;
}

const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];

import { RunClaudeError } from '../../core/errors.ts';
import type { CredentialSource, Secret } from '../../core/types/agent/credential.ts';
import type { McpServer } from '../../core/types/policy.ts';
import type { Asking } from './ask-server.ts';
import { type LoginStore, loginStore, type McpLogin } from './login-store.ts';
import { askTokens, type Tokens, tokensOf } from './tokens.ts';

/** A token with less time left is refreshed before use. */
const REFRESH_AHEAD_MS = 5 * 60_000;
/** A token that was fetched here is not refreshed again before this, or half its life, whoever reports a refusal. */
const MIN_REFRESH_MS = 10 * 60_000;

/**
 * The logins of a policy's MCP servers, by the server's name. Each is refreshed on this host only, and stored before the
 * new token is used.
 */
export function mcpLogins(
  servers: readonly Pick<McpServer, 'name' | 'url' | 'oauth'>[],
  dataDir: string,
  asking: Asking,
): ReadonlyMap<string, CredentialSource> {
  const own = servers.filter(({ oauth }) => oauth === true);
  return new Map(own.map(({ name, url }) => [name, loginSource(loginStore(dataDir, name), url, asking)]));
}

/** One login as a credential. */
export function loginSource(store: LoginStore, server: string, asking: Asking): CredentialSource {
  let handedOut: string | undefined;
  /** When this process fetched which token, in milliseconds since the epoch. */
  const fetched = new Map<string, number>();
  const hand = ({ access, expiresMs }: McpLogin): Secret => {
    handedOut = access;
    return { kind: 'oauth', value: access, ...(expiresMs === undefined ? {} : { expiresMs }) };
  };
  const read = async (): Promise<McpLogin> => {
    const login = await store.read();
    // A token for another address must not go to this one.
    if (login?.server !== server) throw missing(store.name);
    return login;
  };
  const refresh = (spent: string, isRefused: boolean): Promise<McpLogin> => {
    return store.locked(async () => {
      const login = await read();
      // Another session has refreshed it.
      if (login.access !== spent && (login.expiresMs ?? Number.POSITIVE_INFINITY) > Date.now()) return login;
      if (login.refresh === undefined) throw expired(store.name, 'it cannot be refreshed');
      if (isRefused && isTooYoung(login, fetched.get(login.access)))
        throw expired(store.name, 'the server refused a token that was fetched just now');
      const tokens = await fetchTokens(store.name, login, login.refresh, asking);
      if (tokens === 'unreachable') {
        if (!isRefused && (login.expiresMs ?? 0) > Date.now()) return login;
        throw expired(store.name, 'its authorization server gave no answer');
      }
      const { access, expiresMs } = tokens;
      const fresh = { ...login, access, expiresMs, refresh: tokens.refresh ?? login.refresh };
      fetched.set(access, Date.now());
      await store.write(fresh);
      return fresh;
    });
  };
  return {
    name: `the login to ${store.name}`,
    kind: 'oauth',
    async current() {
      const login = await read();
      if (login.expiresMs === undefined || login.expiresMs - Date.now() > REFRESH_AHEAD_MS) return hand(login);
      if (login.refresh === undefined && login.expiresMs > Date.now()) return hand(login);
      return hand(await refresh(login.access, false));
    },
    refresh: async () => hand(await refresh(handedOut ?? (await read()).access, true)),
  };
}

/** Why a stored login cannot be used; undefined where it can, as far as this machine knows. Asks no server. */
export async function loginProblem(store: LoginStore, server: string): Promise<RunClaudeError | undefined> {
  let login: McpLogin | undefined;
  try {
    login = await store.read();
  } catch (error) {
    if (error instanceof RunClaudeError) return error;
    throw error;
  }
  if (login?.server !== server) return missing(store.name);
  if (login.refresh !== undefined || (login.expiresMs ?? Number.POSITIVE_INFINITY) > Date.now()) return undefined;
  return expired(store.name, 'it cannot be refreshed');
}

/** A server that refuses each token would otherwise have one refreshed for each request. */
function isTooYoung({ expiresMs }: McpLogin, fetchedMs: number | undefined): boolean {
  if (fetchedMs === undefined) return false;
  const life = expiresMs === undefined ? Number.POSITIVE_INFINITY : expiresMs - fetchedMs;
  return Date.now() - fetchedMs < Math.min(MIN_REFRESH_MS, life / 2);
}

async function fetchTokens(
  name: string,
  { tokenEndpoint, client, resource }: McpLogin,
  refresh: string,
  asking: Asking,
): Promise<Tokens | 'unreachable'> {
  const grant = { grant_type: 'refresh_token', refresh_token: refresh, resource };
  try {
    const answer = await askTokens(tokenEndpoint, client, grant, asking);
    if (answer.status === 200) return tokensOf(answer, new URL(tokenEndpoint).host);
    if (answer.status !== 400 && answer.status !== 401 && answer.status !== 403) return 'unreachable';
  } catch (error) {
    if (error instanceof RunClaudeError && error.code === 'MCP_LOGIN_FAILED') return 'unreachable';
    throw error;
  }
  throw expired(name, 'its authorization server refused to refresh it');
}

function missing(name: string): RunClaudeError {
  return new RunClaudeError('MCP_LOGIN_MISSING', `there is no login to the MCP server ${name}`, {
    hint: `To log in: run-claude mcp login ${name}`,
  });
}

function expired(name: string, why: string): RunClaudeError {
  return new RunClaudeError('CREDENTIAL_EXPIRED', `the login to the MCP server ${name} has expired, and ${why}`, {
    hint: `To log in again: run-claude mcp login ${name}`,
  });
}

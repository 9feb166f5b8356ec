import { RunClaudeError } from '../../../core/errors.ts';
import { post } from '../../../core/host/https-request.ts';
import { asObject, type JsonObject, parseObject } from '../../../core/text/json-in.ts';
import type { CredentialSource, Secret } from '../../../core/types/agent/credential.ts';
import type { CredentialStore } from './credential-store.ts';
import { withRefreshLock } from './refresh-lock.ts';

// From Claude Code 2.1.329: the endpoint and client id with which it refreshes a login of claude.ai or the console.
const TOKEN_URL = 'https://platform.claude.com/v1/oauth/token';
const CLIENT_ID = '9d1c250a-e61b-44d9-88ed-5944d1962f5e';
/** A token with less time left is refreshed before use. */
const REFRESH_AHEAD_MS = 5 * 60_000;
/** Longer than the lock of a killed holder is valid. */
const LOCK_WAIT_MS = 75_000;

export interface OAuthOptions {
  readonly configDir: string;
  /** The token endpoint; a stand-in in tests. */
  readonly endpoint?: string;
  readonly lockWaitMs?: number;
  /** For the user's HTTPS_PROXY. */
  readonly env?: NodeJS.ProcessEnv;
}

interface Login {
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  readonly expiresMs: number | undefined;
  readonly scopes: readonly string[];
  readonly clientId: string | undefined;
}

/** The login in a stored document; undefined when there is none. */
function loginOf(document: JsonObject | undefined): Login | undefined {
  const part = asObject(document?.['claudeAiOauth']);
  const accessToken = text(part?.['accessToken']);
  if (part === undefined || accessToken === undefined) return undefined;
  const expires = part['expiresAt'];
  const scopes = part['scopes'];
  return {
    accessToken,
    refreshToken: text(part['refreshToken']),
    expiresMs: typeof expires === 'number' && Number.isFinite(expires) ? expires : undefined,
    scopes: Array.isArray(scopes) ? scopes.filter((scope) => typeof scope === 'string') : [],
    clientId: text(part['clientId']),
  };
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/**
 * The login in a store as a credential; undefined when there is none. It is read each time, since Claude on the host may
 * have refreshed it. It is refreshed under Claude's own lock, and the store is written before the new token is used.
 */
export async function storedLogin(
  store: CredentialStore,
  options: OAuthOptions,
): Promise<CredentialSource | undefined> {
  const first = loginOf(await store.read());
  if (first === undefined) return undefined;
  let handedOut: string | undefined;
  const hand = (login: Login): Secret => {
    handedOut = login.accessToken;
    return secretOf(login);
  };
  return {
    name: store.name,
    kind: 'oauth',
    ...(first.expiresMs === undefined ? {} : { expiresMs: first.expiresMs }),
    current: async () => {
      const login = loginOf(await store.read());
      if (login === undefined) throw loggedOut(store.name);
      const isExpiring = login.expiresMs !== undefined && login.expiresMs - Date.now() < REFRESH_AHEAD_MS;
      if (!isExpiring) return hand(login);
      return hand(await refreshLogin(store, options, { spent: login.accessToken, isRefused: false }));
    },
    refresh: async () => {
      const spent = handedOut ?? loginOf(await store.read())?.accessToken;
      return hand(await refreshLogin(store, options, { spent, isRefused: true }));
    },
  };
}

function secretOf(login: Login): Secret {
  return {
    kind: 'oauth',
    value: login.accessToken,
    ...(login.expiresMs === undefined ? {} : { expiresMs: login.expiresMs }),
  };
}

function loggedOut(name: string): RunClaudeError {
  return new RunClaudeError('CREDENTIAL_EXPIRED', `the Claude login in ${name} has expired and cannot be refreshed`, {
    hint: 'Run `claude` on the host and log in again with /login, or set ANTHROPIC_API_KEY.',
  });
}

interface RefreshCause {
  /** The access token that expires soon, or that the provider has refused. */
  readonly spent: string | undefined;
  readonly isRefused: boolean;
}

/** Refreshes unless another process has done so. */
async function refreshLogin(
  store: CredentialStore,
  options: OAuthOptions,
  { spent, isRefused }: RefreshCause,
): Promise<Login> {
  return withRefreshLock(options.configDir, options.lockWaitMs ?? LOCK_WAIT_MS, async () => {
    const document = await store.read();
    const login = loginOf(document);
    if (document === undefined || login === undefined) throw loggedOut(store.name);
    if (login.accessToken !== spent && (login.expiresMs ?? Number.POSITIVE_INFINITY) > Date.now()) return login;
    if (login.refreshToken === undefined) throw loggedOut(store.name);
    if (!store.canStoreRefreshed(document)) return ifUsable(login, isRefused, store.name);
    const answer = await postRefresh(options.endpoint ?? TOKEN_URL, login, options.env ?? {});
    if (answer.kind === 'unreachable') return ifUnexpired(login, answer.why);
    if (answer.kind === 'refused') {
      // Claude before 2.1 refreshes without these locks. A token that it has stored in the meantime works as well.
      const other = loginOf(await store.read());
      if (other !== undefined && other.accessToken !== login.accessToken) return other;
      throw loggedOut(store.name);
    }
    const fresh = {
      ...asObject(document['claudeAiOauth']),
      accessToken: answer.accessToken,
      refreshToken: answer.refreshToken ?? login.refreshToken,
      expiresAt: Date.now() + answer.expiresInS * 1000,
    };
    const written = { ...document, claudeAiOauth: fresh };
    await store.write(written);
    return loginOf(written) ?? login;
  });
}

/**
 * The login where run-claude cannot store a refreshed one: Claude on the host has to refresh it.
 * @throws {RunClaudeError} CREDENTIAL_EXPIRED when the token has expired or the provider has refused it.
 */
function ifUsable(login: Login, isRefused: boolean, name: string): Login {
  if (!isRefused && (login.expiresMs ?? 0) > Date.now()) return login;
  throw new RunClaudeError(
    'CREDENTIAL_EXPIRED',
    `the Claude login in ${name} has expired, and it is too long for run-claude to store a refreshed one there`,
    {
      hint: 'Run `claude` on the host and send a message: it refreshes the login. Then start again. Or log out of MCP servers there (/mcp) to make it shorter.',
    },
  );
}

/** The login where the endpoint cannot be reached: a token that has not expired still works. */
function ifUnexpired(login: Login, why: string): Login {
  if ((login.expiresMs ?? 0) > Date.now()) return login;
  throw new RunClaudeError('CREDENTIAL_EXPIRED', `the Claude login has expired and refreshing it failed: ${why}`, {
    hint: 'Check the network connection, or run `claude` on the host and log in again with /login.',
  });
}

type Answer =
  | { kind: 'fresh'; accessToken: string; refreshToken: string | undefined; expiresInS: number }
  | { kind: 'refused' }
  | { kind: 'unreachable'; why: string };

async function postRefresh(endpoint: string, login: Login, env: NodeJS.ProcessEnv): Promise<Answer> {
  const asked = JSON.stringify({
    grant_type: 'refresh_token',
    refresh_token: login.refreshToken,
    client_id: login.clientId ?? CLIENT_ID,
    ...(login.scopes.length === 0 ? {} : { scope: login.scopes.join(' ') }),
  });
  let status: number;
  let body: JsonObject | undefined;
  try {
    const posted = await post(endpoint, { type: 'application/json', body: asked }, env, 30_000);
    status = posted.status;
    body = parseObject(posted.body);
  } catch (error) {
    return { kind: 'unreachable', why: error instanceof Error ? error.message : 'no answer' };
  }
  if (status === 400 || status === 401 || status === 403) return { kind: 'refused' };
  const accessToken = text(body?.['access_token']);
  const expires = body?.['expires_in'];
  if (status !== 200 || accessToken === undefined || typeof expires !== 'number')
    return { kind: 'unreachable', why: `status ${status}` };
  return { kind: 'fresh', accessToken, refreshToken: text(body?.['refresh_token']), expiresInS: expires };
}

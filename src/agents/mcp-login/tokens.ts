import type { HostAnswer } from '../../core/host/https-request.ts';
import type { JsonObject } from '../../core/text/json-in.ts';
import { type Asking, askServer, failed, objectOf } from './ask-server.ts';

/** run-claude as an authorization server knows it. */
export interface Client {
  readonly id: string;
  readonly secret?: string | undefined;
  /** How the client shows its secret. */
  readonly method: 'none' | 'client_secret_basic' | 'client_secret_post';
}

/** What a token endpoint gives out. */
export interface Tokens {
  readonly access: string;
  readonly refresh: string | undefined;
  /** Milliseconds since the epoch, when known. */
  readonly expiresMs: number | undefined;
}

/** More than any token has; a larger one would not fit into a header. */
const TOKEN = /^[\x21-\x7e]{1,8192}$/;

/**
 * Asks the token endpoint with the words of a grant.
 *
 * @returns the answer of any status
 * @throws {RunClaudeError} MCP_LOGIN_REFUSED, MCP_LOGIN_FAILED without an answer
 */
export function askTokens(
  endpoint: string,
  { id, secret, method }: Client,
  grant: Readonly<Record<string, string>>,
  asking: Asking,
): Promise<HostAnswer> {
  const form = new URLSearchParams({ ...grant, client_id: id });
  const headers: Record<string, string> = {
    'content-type': 'application/x-www-form-urlencoded',
    accept: 'application/json',
  };
  if (secret !== undefined && method === 'client_secret_post') form.set('client_secret', secret);
  if (secret !== undefined && method === 'client_secret_basic') {
    const words = [id, secret].map((word) => new URLSearchParams({ '': word }).toString().slice(1));
    headers['authorization'] = `Basic ${Buffer.from(words.join(':')).toString('base64')}`;
  }
  return askServer(endpoint, { method: 'POST', headers, body: form.toString() }, asking);
}

/**
 * The tokens in an answer of status 200.
 *
 * @throws {RunClaudeError} MCP_LOGIN_FAILED for an answer without a bearer token
 */
export function tokensOf(answer: HostAnswer, from: string): Tokens {
  const body = objectOf(answer, from);
  const access = tokenIn(body, 'access_token');
  const type = body['token_type'];
  if (access === undefined || typeof type !== 'string' || type.toLowerCase() !== 'bearer')
    throw failed(`${from}: its answer has no bearer token`);
  const seconds = Number(body['expires_in']);
  const isTimed = body['expires_in'] !== undefined && Number.isFinite(seconds) && seconds > 0;
  return {
    access,
    refresh: tokenIn(body, 'refresh_token'),
    expiresMs: isTimed ? Date.now() + Math.min(seconds, MAX_LIFE_S) * 1000 : undefined,
  };
}

const MAX_LIFE_S = 10 * 365 * 86_400;

function tokenIn(body: JsonObject, name: string): string | undefined {
  const value = body[name];
  return typeof value === 'string' && TOKEN.test(value) ? value : undefined;
}

import { RunClaudeError } from '../../core/errors.ts';
import { type HostAnswer, type HostRequest, send } from '../../core/host/https-request.ts';
import { asObject, type JsonObject } from '../../core/text/json-in.ts';
import { visible } from '../../core/text/visible.ts';
import { mayConnect, suggestedRange } from './public-address.ts';

/** For a whole answer, which may otherwise never end. */
const ANSWER_MS = 20_000;

/** What requests of a login need of this machine. */
export interface Asking {
  /** For the user's HTTPS_PROXY. */
  readonly env: NodeJS.ProcessEnv;
  /** Ranges of `--allow-address`. */
  readonly allowAddresses: readonly string[];
  /** Default 20 seconds. */
  readonly timeoutMs?: number;
}

type Asked = Omit<HostRequest, 'timeoutMs' | 'judge'>;

/**
 * The answer of a server that nobody trusts yet: over https only, never a redirect, at most 1 MiB, and only from public
 * addresses or those that the user allowed.
 *
 * @throws {RunClaudeError} MCP_LOGIN_REFUSED, MCP_LOGIN_FAILED
 */
export async function askServer(address: string, asked: Asked, asking: Asking): Promise<HostAnswer> {
  const url = requireHttps(address, 'an address');
  const judge = (addresses: readonly string[]): void => {
    const bad = addresses.find((one) => !mayConnect(one, asking.allowAddresses));
    if (bad === undefined) return;
    const range = suggestedRange(bad);
    const hint =
      range === undefined ? undefined : `If it is meant to, add allow-address = ["${range}"] to your config.toml.`;
    throw refused(`${url.hostname} resolves to ${bad}, which is not a public address`, hint);
  };
  const { timeoutMs = ANSWER_MS } = asking;
  const answer = await send(url.href, { ...asked, timeoutMs, judge }, asking.env).catch((error: unknown) => {
    if (error instanceof RunClaudeError) throw error;
    const isLate = error instanceof Error && /abort|timeout/i.test(`${error.name} ${error.message}`);
    const why = isLate
      ? `no whole answer in ${timeoutMs / 1000} s`
      : error instanceof Error
        ? error.message
        : 'no answer';
    throw failed(`${url.host}: ${why}`);
  });
  if (answer.status >= 300 && answer.status < 400)
    throw refused(`${url.host} redirects ${url.pathname}: a login follows no redirect`);
  return answer;
}

/** The object in an answer. @throws {RunClaudeError} MCP_LOGIN_FAILED where there is none */
export function objectOf(answer: HostAnswer, from: string): JsonObject {
  try {
    const object = asObject(JSON.parse(answer.body));
    if (object !== undefined) return object;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw failed(`${from}: its answer is not a JSON object`);
}

/** The address, where it is https without a login in it. @throws {RunClaudeError} MCP_LOGIN_REFUSED */
export function requireHttps(address: unknown, what: string): URL {
  const url = typeof address === 'string' && URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '' || url.hash !== '')
    throw refused(`${what} is not a plain https:// address: ${shown(address)}`);
  return url;
}

/** A value of a server's JSON in a message. Any other than a text may have no text form, or one without an end. */
function shown(value: unknown): string {
  if (typeof value === 'string') return value.slice(0, 200);
  return value === undefined ? 'there is none' : `it is ${value === null ? 'null' : `of type ${typeof value}`}`;
}

/** Messages quote servers that nobody trusts: each is one line without control characters. */
export function refused(message: string, hint?: string): RunClaudeError {
  return new RunClaudeError('MCP_LOGIN_REFUSED', visible(message), {
    hint: hint ?? 'Nothing was stored. Ask who runs the server, or use --from with a command that prints a token.',
  });
}

export function failed(message: string): RunClaudeError {
  return new RunClaudeError('MCP_LOGIN_FAILED', visible(message), {
    hint: 'Nothing was stored. Try again, or use --from with a command that prints a token.',
  });
}

import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { failed, refused } from './ask-server.ts';

const PATH = '/callback';
/** Connections that are open at once. Others than the browser are programs of this machine, which may leave theirs idle. */
const MAX_CONNECTIONS = 64;

/** The page on this machine's loopback to which the browser returns. */
export interface RedirectPage extends AsyncDisposable {
  /** `http://127.0.0.1:PORT/callback`. */
  readonly address: string;
  /**
   * The code of the login. The page answers one request with the right state, and ends.
   *
   * @throws {RunClaudeError} MCP_LOGIN_FAILED where the login was not granted, or `signal` was aborted; MCP_LOGIN_REFUSED
   *   for the answer of another server
   */
  code(signal: AbortSignal): Promise<string>;
}

export interface Expected {
  /** Random: only who saw the address of this login knows it. */
  readonly state: string;
  readonly issuer: string;
  readonly namesIssuer: boolean;
}

/** Opens the page on a free port of 127.0.0.1. */
export async function openRedirectPage(expected: Expected): Promise<RedirectPage> {
  let found: (query: URLSearchParams) => void = () => undefined;
  const query = new Promise<URLSearchParams>((resolve) => {
    found = resolve;
  });
  const server = createServer({ maxHeaderSize: 16_384, headersTimeout: 10_000, requestTimeout: 10_000 });
  endOldest(server);
  server.on('request', (request, response) => {
    const asked = queryOf(request, portOf(server));
    const isRight = asked !== undefined && isSame(asked.get('state') ?? '', expected.state);
    response.writeHead(isRight ? 200 : 400, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'",
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      connection: 'close',
    });
    response.end(
      isRight ? '<p>run-claude has the answer. You can close this page.' : '<p>Not an answer to this login.',
    );
    // Wrong requests have no limit: none of them can guess the state, and a limit would let any program end the login.
    if (!isRight) return;
    server.close();
    found(asked);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    address: `http://127.0.0.1:${portOf(server)}${PATH}`,
    async code(signal) {
      return codeIn(await Promise.race([query, ended(signal)]), expected);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Ends the connection that is open for the longest time when there are too many: a browser sends its request at once. */
function endOldest(server: Server): void {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    const [oldest] = open;
    if (open.size > MAX_CONNECTIONS) oldest?.destroy();
  });
}

const portOf = (server: Server): number => (server.address() as AddressInfo | null)?.port ?? 0;

function queryOf({ method, url = '', headers }: IncomingMessage, port: number): URLSearchParams | undefined {
  const [path, query] = url.split('?', 2);
  // A name that resolves to this machine is another site's.
  const isOwn = headers.host === `127.0.0.1:${port}`;
  return method === 'GET' && path === PATH && isOwn ? new URLSearchParams(query) : undefined;
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function codeIn(query: URLSearchParams, { issuer, namesIssuer }: Expected): string {
  const from = query.get('iss');
  if (from === null ? namesIssuer : from !== issuer)
    throw refused(`the answer of the login is from ${from ?? 'an unnamed server'}, not from ${issuer}`);
  const error = query.get('error');
  if (error !== null) throw failed(`the login was not granted: ${error.slice(0, 100)}`);
  const code = query.get('code') ?? '';
  if (!/^[\x20-\x7e]{1,4096}$/.test(code)) throw failed('the answer of the login has no code');
  return code;
}

function ended(signal: AbortSignal): Promise<never> {
  const reason = (): Error =>
    signal.reason instanceof DOMException ? failed('nobody logged in in time') : (signal.reason as Error);
  return new Promise((_, reject) => {
    if (signal.aborted) reject(reason());
    else signal.addEventListener('abort', () => reject(reason()), { once: true });
  });
}

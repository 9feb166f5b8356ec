import { timingSafeEqual } from 'node:crypto';

// Who may use the preview of a session. The page is the agent's and hostile; so may be every other page in the user's
// browser, and every other program that listens on this machine. A request passes only with the session's token, under the
// session's own host name, and from no page but the session's own.

/** Where a preview is, and what opens it. */
export interface PreviewAddress {
  /** `ID.localhost`: no other session or local page shares its cookies and storage. */
  readonly host: string;
  readonly hostPort: number;
  readonly token: string;
  /** All host ports at which this session's pages are: they may use each other. */
  readonly ports: readonly number[];
}

export interface RequestHead {
  readonly method: string;
  /** As in the request line. */
  readonly target: string;
  /** Names and values in turn, as received. */
  readonly rawHeaders: readonly string[];
  readonly isUpgrade: boolean;
  /** Whether the connection is that of another user of this machine. */
  readonly isForeign: boolean;
}

export type Judgement =
  | { readonly kind: 'pass'; readonly headers: string[] }
  /** The token was in the address. The browser keeps it as a cookie from now on. */
  | { readonly kind: 'enter'; readonly location: string; readonly cookie: string }
  | { readonly kind: 'refused'; readonly status: number; readonly why: string };

export const TOKEN_PARAMETER = 'run-claude-token';
export const TOKEN_COOKIE = 'run-claude-token';

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** Of one connection only (RFC 9110, 7.6.1), or for proxies; some of them are written anew. */
const NOT_PASSED_ON = new Set([
  'connection',
  'cookie',
  'expect',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Whether a request may reach the agent's program, and with which headers. */
export function judgeRequest(head: RequestHead, address: PreviewAddress): Judgement {
  const headers = headersOf(head.rawHeaders);
  const why = whyRefused(head, headers, address);
  if (why !== undefined) return { kind: 'refused', ...why };
  const url = safeUrl(`http://${address.host}${head.target}`);
  if (url === undefined) return refused(400, 'the request line has no valid path');
  const given = url.searchParams.getAll(TOKEN_PARAMETER);
  if (given.length > 0) return enter(head, url, given, address);
  const cookies = cookiesOf(headers);
  if (!cookies.some(({ name, value }) => name === TOKEN_COOKIE && isSame(value, address.token)))
    return refused(403, 'this request has no token of the session');
  return { kind: 'pass', headers: passedHeaders(head, cookies) };
}

function whyRefused(
  { method, target, isUpgrade, isForeign }: RequestHead,
  headers: Headers,
  address: PreviewAddress,
): { readonly status: number; readonly why: string } | undefined {
  // Cookies know no port: a browser also sends the token to whatever listens on another port of the same name.
  if (isForeign) return { status: 403, why: 'the request comes from a program of another user of this machine' };
  if (!METHODS.has(method)) return { status: 405, why: 'this method is not allowed' };
  if (!/^\/[\x21-\x7e\x80-\xff]*$/.test(target)) return { status: 400, why: 'the request line has no path' };
  const hosts = headers.get('host') ?? [];
  // DNS rebinding: a page of another name can have an address of this machine.
  const [host] = hosts;
  if (hosts.length !== 1 || host === undefined || !namesOf(address).includes(host.toLowerCase()))
    return { status: 421, why: 'the host name is not the one of this session' };
  const upgrades = headers.get('upgrade') ?? [];
  if (isUpgrade && (upgrades.length !== 1 || upgrades[0]?.toLowerCase() !== 'websocket' || method !== 'GET'))
    return { status: 400, why: 'a connection can be upgraded to a WebSocket only' };
  // A service worker makes up answers in the browser, which this side never sees: without its policy.
  const isWorker = headers.has('service-worker') || headers.get('sec-fetch-dest')?.includes('serviceworker') === true;
  if (isWorker) return { status: 403, why: 'a page of the session may not have a service worker' };
  return isOwnPage(headers, address) ? undefined : { status: 403, why: 'the request comes from another page' };
}

/**
 * Whether no page but the session's own can have sent the request. Browsers send Sec-Fetch-Site, which no page can set, and
 * Origin with everything but plain reads. Other programs send neither; they need the token in any case.
 */
function isOwnPage(headers: Headers, address: PreviewAddress): boolean {
  const origins = headers.get('origin') ?? [];
  const sites = headers.get('sec-fetch-site') ?? [];
  if (origins.length > 1 || sites.length > 1) return false;
  const [origin] = origins;
  const [site] = sites;
  const own = address.ports.map((port) => originOf(address.host, port));
  if (site !== undefined && !['same-origin', 'same-site', 'none'].includes(site)) return false;
  // A page that asks for no referrer sends 'null' to itself too.
  if (origin === 'null') return site === 'same-origin';
  if (origin !== undefined) return own.includes(origin);
  // Any port of this host name is the same site: only the referrer tells the session's pages from another program's.
  if (site === 'same-site') return (headers.get('referer') ?? []).some((from) => own.includes(safeOrigin(from)));
  return true;
}

function enter({ method }: RequestHead, url: URL, given: readonly string[], address: PreviewAddress): Judgement {
  if (given.length !== 1 || !isSame(given[0] ?? '', address.token)) return refused(403, 'the token is not valid');
  if (method !== 'GET' && method !== 'HEAD') return refused(405, 'the token is taken from an address that is opened');
  url.searchParams.delete(TOKEN_PARAMETER);
  return {
    kind: 'enter',
    location: `${originOf(address.host, address.hostPort)}${url.pathname}${url.search}`,
    cookie: `${TOKEN_COOKIE}=${address.token}; Path=/; HttpOnly; SameSite=Strict`,
  };
}

/** The host header as browsers write it: without the usual port. */
function namesOf({ host, hostPort }: PreviewAddress): readonly string[] {
  return hostPort === 80 ? [host, `${host}:80`] : [`${host}:${hostPort}`];
}

export function originOf(host: string, port: number): string {
  return port === 80 ? `http://${host}` : `http://${host}:${port}`;
}

type Headers = ReadonlyMap<string, readonly string[]>;

function headersOf(raw: readonly string[]): Headers {
  const headers = new Map<string, string[]>();
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = (raw[at] ?? '').toLowerCase();
    headers.set(name, [...(headers.get(name) ?? []), raw[at + 1] ?? '']);
  }
  return headers;
}

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly text: string;
}

function cookiesOf(headers: Headers): readonly Cookie[] {
  return (headers.get('cookie') ?? [])
    .flatMap((line) => line.split(';'))
    .map((part) => part.trim())
    .filter((text) => text !== '')
    .map((text) => {
      const at = text.indexOf('=');
      return { name: text.slice(0, Math.max(at, 0)).trim(), value: text.slice(at + 1).trim(), text };
    });
}

/** Everything but what belongs to this connection, and the token: what the agent's program gets, the page's script gets. */
function passedHeaders({ rawHeaders, isUpgrade }: RequestHead, cookies: readonly Cookie[]): string[] {
  const named = new Set(
    valuesOf(rawHeaders, 'connection').flatMap((value) => value.split(',').map((name) => name.trim().toLowerCase())),
  );
  const passed: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = [rawHeaders[at], rawHeaders[at + 1]];
    const lower = name.toLowerCase();
    const isNamed = named.has(lower) && lower !== 'host' && lower !== 'content-length';
    if (!NOT_PASSED_ON.has(lower) && !isNamed) passed.push(name, value);
  }
  const kept = cookies.filter(({ name }) => name !== TOKEN_COOKIE).map(({ text }) => text);
  if (kept.length > 0) passed.push('Cookie', kept.join('; '));
  if (valuesOf(rawHeaders, 'transfer-encoding').length > 0) passed.push('Transfer-Encoding', 'chunked');
  return [...passed, ...(isUpgrade ? ['Connection', 'Upgrade', 'Upgrade', 'websocket'] : ['Connection', 'close'])];
}

function valuesOf(raw: readonly string[], wanted: string): string[] {
  return raw.filter((_, at) => at % 2 === 1 && raw[at - 1]?.toLowerCase() === wanted);
}

function isSame(given: string, token: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(token)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function safeOrigin(url: string): string {
  return safeUrl(url)?.origin ?? '';
}

function safeUrl(url: string): URL | undefined {
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}

function refused(status: number, why: string): Judgement {
  return { kind: 'refused', status, why };
}

import { originOf, type PreviewAddress, TOKEN_COOKIE } from './judge-request.ts';

/** Of the connection to the agent's program only; written anew by this side. */
const OF_CONNECTION = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
];
/**
 * Another address for the same page, connections and reports that a browser makes by itself, permissions that only this side
 * grants, and the removal of the token's cookie.
 */
const NOT_PASSED_ON = new Set([
  ...OF_CONNECTION,
  'access-control-allow-private-network',
  'alt-svc',
  'clear-site-data',
  'content-security-policy-report-only',
  'cross-origin-resource-policy',
  'link',
  'nel',
  'origin-agent-cluster',
  'permissions-policy',
  'public-key-pins',
  'report-to',
  'reporting-endpoints',
  'speculation-rules',
  'strict-transport-security',
  'upgrade',
  'x-dns-prefetch-control',
]);

/** What a page may ask the user's browser for only where the session's user would expect it: nothing of this. */
const NO_PERMISSIONS = [
  'bluetooth',
  'camera',
  'clipboard-read',
  'display-capture',
  'geolocation',
  'hid',
  'identity-credentials-get',
  'local-fonts',
  'local-network-access',
  'microphone',
  'midi',
  'payment',
  'publickey-credentials-create',
  'publickey-credentials-get',
  'serial',
  'usb',
]
  .map((name) => `${name}=()`)
  .join(', ');

/**
 * The headers of a response as the user's browser gets them. `allowedHosts`: the hosts that the agent itself may reach by
 * the user's word, `HOST[:PORT]`.
 */
export function passedResponseHeaders(
  rawHeaders: readonly string[],
  address: PreviewAddress,
  allowedHosts: readonly string[],
): string[] {
  const passed: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = [rawHeaders[at], rawHeaders[at + 1]];
    const lower = name.toLowerCase();
    if (NOT_PASSED_ON.has(lower)) continue;
    if (lower === 'set-cookie') {
      const cookie = ownCookie(value);
      if (cookie !== undefined) passed.push(name, cookie);
    } else if (lower === 'content-security-policy') passed.push(name, withoutReports(value));
    else passed.push(name, value);
  }
  return [...passed, ...guardHeaders(address, allowedHosts)];
}

/** The cookie for the page's own host name alone; undefined where it would replace the token. */
function ownCookie(value: string): string | undefined {
  const [pair = '', ...attributes] = value.split(';');
  if (pair.split('=', 1)[0]?.trim() === TOKEN_COOKIE) return undefined;
  return [pair, ...attributes.filter((one) => !/^\s*domain\s*(=|$)/i.test(one))].join(';');
}

/** A report of a violation would leave for any address, whatever the policies say. */
function withoutReports(policies: string): string {
  return policies
    .split(',')
    .map((policy) =>
      policy
        .split(';')
        .filter((directive) => !/^\s*report-(uri|to)\b/i.test(directive))
        .join(';'),
    )
    .join(',');
}

/**
 * The page runs in the user's browser, which reaches the whole network and every program of this machine. These headers keep
 * its requests to the session's own pages and to the hosts that the user allowed. They do not stop it from leaving for
 * another address as a whole, which the user sees.
 */
function guardHeaders(address: PreviewAddress, allowedHosts: readonly string[]): string[] {
  const pages = address.ports.map((port) => originOf(address.host, port));
  const sockets = pages.map((page) => page.replace('http:', 'ws:'));
  const hosts = allowedHosts
    .filter((host) => /^(\*\.)?[a-z0-9.-]+(:\d+)?$/i.test(host))
    .map((host) => `https://${host}`);
  const own = [...pages, ...sockets, ...hosts].join(' ');
  const policy = [
    `default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob: ${own}`,
    "object-src 'none'",
    `base-uri 'self'`,
    `form-action ${pages.join(' ')}`,
    `frame-ancestors ${pages.join(' ')}`,
    "webrtc 'block'",
  ].join('; ');
  return [
    ...['Content-Security-Policy', policy],
    ...['Cross-Origin-Resource-Policy', 'same-site'],
    ...['Origin-Agent-Cluster', '?1'],
    ...['Permissions-Policy', NO_PERMISSIONS],
    ...['X-DNS-Prefetch-Control', 'off'],
  ];
}

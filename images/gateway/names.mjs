// Host names as the policy compares them: one spelling each; anything unusual is refused, not corrected.
import net from 'node:net';

const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;

/**
 * The name in lower case, or undefined when it is not a plain ASCII host name or a canonical IP address. A last label
 * that is a number (or 0x…) is refused: resolvers read such names as addresses. Trailing dots are refused too.
 * @param {string} text @returns {string | undefined}
 */
export function hostName(text) {
  if (net.isIPv4(text)) return text;
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  if (net.isIPv6(bare)) return bare.includes('%') ? undefined : bare.toLowerCase();
  if (text.length > 253) return undefined;
  const labels = text.toLowerCase().split('.');
  if (!labels.every((label) => LABEL.test(label))) return undefined;
  const last = labels.at(-1) ?? '';
  if (/^(\d+|0x[0-9a-f]*)$/.test(last)) return undefined;
  return labels.join('.');
}

/**
 * 'host:port' of a CONNECT or Host header. The port is required unless a default is given.
 * @param {string} text @param {number} [defaultPort] @returns {{ host: string, port: number } | undefined}
 */
export function parseAuthority(text, defaultPort) {
  const match = /^(\[[0-9a-fA-F:.]+\]|[^:[\]@/\\?#\s]+)(?::([1-9][0-9]{0,4}))?$/.exec(text);
  if (match === null) return undefined;
  const host = hostName(match[1] ?? '');
  const port = match[2] === undefined ? defaultPort : Number(match[2]);
  if (host === undefined || port === undefined || port > 65535) return undefined;
  return { host, port };
}

/** Whether `host` is `pattern`, or below it when that starts with '*.'.
 * @param {string} pattern @param {string} host */
export function nameMatches(pattern, host) {
  if (!pattern.startsWith('*.')) return pattern === host;
  return net.isIP(host) === 0 && host.length > pattern.length - 1 && host.endsWith(pattern.slice(1));
}

/** Text from the agent for the log: short, printable ASCII.
 * @param {string} text */
export function cleanName(text) {
  return text.slice(0, 253).replace(/[^\x21-\x7e]/g, (char) => `\\x${(char.codePointAt(0) ?? 0).toString(16)}`);
}

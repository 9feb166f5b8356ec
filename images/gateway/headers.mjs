// Headers as they are forwarded: those of one hop are dropped (RFC 9110 7.6.1), repeated headers stay repeated.
import { Refused } from './egress.mjs';
import { parseAuthority } from './names.mjs';

const HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Headers of the message itself, whatever its Connection header names: without one of them the next server reads another message. */
const MESSAGE = new Set(['host', 'content-length']);

/**
 * The one Host header of a request, or undefined when there is none or more than one: two servers may each read another.
 * @param {readonly string[]} raw @param {number} defaultPort
 */
export function hostHeader(raw, defaultPort) {
  const values = raw.filter((_, i) => i % 2 === 1 && raw[i - 1]?.toLowerCase() === 'host');
  return values.length === 1 ? parseAuthority(String(values[0]), defaultPort) : undefined;
}

/**
 * How a body is framed on the next hop. Node frames a body by itself only for methods that usually have one: a GET with
 * a chunked body would go out bare, and its bytes be read as the next request. Throws Refused for other codings.
 * @param {import('node:http').IncomingHttpHeaders} headers @returns {string[]}
 */
export function framing(headers) {
  const coding = headers['transfer-encoding'];
  if (coding === undefined) return [];
  if (coding.toLowerCase() !== 'chunked') throw new Refused('the body is in a coding other than chunked');
  return ['transfer-encoding', 'chunked'];
}

/** Headers that make some servers act on another method, path or host than the one that was judged. */
export const OVERRIDES = [
  'x-http-method-override',
  'x-http-method',
  'x-method-override',
  'x-original-url',
  'x-original-host',
  'x-rewrite-url',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-prefix',
  'x-host',
  'forwarded',
];

/**
 * The headers whose names are on each of the lists. A name is compared as it is written: some servers read an underscore
 * as a hyphen, and so another header.
 * @param {readonly string[]} raw names and values in turn @param {readonly ReadonlySet<string>[]} lists lower case
 * @returns {string[]} names and values in turn
 */
export function listedHeaders(raw, lists) {
  const isListed = (/** @type {string} */ name) => lists.every((list) => list.has(name.toLowerCase()));
  return forwardedHeaders(raw).filter((_, i, all) => isListed(String(all[i - (i % 2)])));
}

/**
 * @param {readonly string[]} raw names and values in turn, as in `rawHeaders`
 * @param {{ has(name: string): boolean }} [without] more names to drop, lower case
 * @returns {string[]} names and values in turn
 */
export function forwardedHeaders(raw, without = new Set()) {
  const named = new Set();
  for (let i = 0; i < raw.length; i += 2)
    if (raw[i]?.toLowerCase() === 'connection')
      for (const name of String(raw[i + 1]).split(',')) named.add(name.trim().toLowerCase());
  for (const name of MESSAGE) named.delete(name);
  /** @type {string[]} */
  const kept = [];
  for (let i = 0; i < raw.length; i += 2) {
    const name = String(raw[i]).toLowerCase();
    // Some servers read an underscore in a name as a hyphen.
    const alike = name.replaceAll('_', '-');
    const other = alike !== name && MESSAGE.has(alike);
    if (!HOP.has(alike) && !named.has(name) && !without.has(alike) && !other)
      kept.push(String(raw[i]), String(raw[i + 1]));
  }
  return kept;
}

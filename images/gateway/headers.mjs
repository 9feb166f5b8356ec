// Headers as they are handed on: what belongs to one hop is dropped (RFC 9110 7.6.1), repeated headers stay repeated.

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

/**
 * @param {readonly string[]} raw names and values in turn, as in `rawHeaders`
 * @param {ReadonlySet<string>} [without] more names to drop, lower case
 * @returns {string[]} names and values in turn
 */
export function forwardedHeaders(raw, without = new Set()) {
  const named = new Set();
  for (let i = 0; i < raw.length; i += 2)
    if (raw[i]?.toLowerCase() === 'connection')
      for (const name of String(raw[i + 1]).split(',')) named.add(name.trim().toLowerCase());
  /** @type {string[]} */
  const kept = [];
  for (let i = 0; i < raw.length; i += 2) {
    const name = String(raw[i]).toLowerCase();
    if (!HOP.has(name) && !named.has(name) && !without.has(name)) kept.push(String(raw[i]), String(raw[i + 1]));
  }
  return kept;
}

// Which addresses are public. Everything else is refused unless a rule names it. The table of the others is the host's
// (src/core/text/special-addresses.ts), and is part of the gateway's configuration.
import net from 'node:net';

/** An address as a number: IPv4 32 bits, IPv6 128. Undefined when it is not in the usual spelling.
 * @param {string} text @returns {{ bits: 32 | 128, value: bigint } | undefined} */
function parseAddress(text) {
  if (net.isIPv4(text))
    return { bits: 32, value: text.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n) };
  if (!net.isIPv6(text) || text.includes('%')) return undefined;
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  const tail = dotted === null ? undefined : parseAddress(String(dotted[2]));
  const plain =
    dotted === null || tail === undefined
      ? text
      : `${dotted[1]}${(tail.value >> 16n).toString(16)}:${(tail.value & 0xffffn).toString(16)}`;
  const [head = '', rest] = plain.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = rest === undefined || rest === '' ? [] : rest.split(':');
  const groups = [...before, ...Array(8 - before.length - after.length).fill('0'), ...after];
  return { bits: 128, value: groups.reduce((sum, group) => sum * 65536n + BigInt(`0x${group}`), 0n) };
}

/** Whether the address is in the range. False for another family, and for text that is not an address.
 * @param {string} address @param {string} cidr */
export function inRange(address, cidr) {
  const [base = '', length] = cidr.split('/');
  const one = parseAddress(address);
  const other = parseAddress(base);
  if (one === undefined || other === undefined || one.bits !== other.bits) return false;
  const shift = BigInt(one.bits - (length === undefined ? one.bits : Number(length)));
  return one.value >> shift === other.value >> shift;
}

/** @typedef {import('../../src/core/types/gateway.ts').GatewayConfig['specialAddresses']} SpecialAddresses */

/** Why an address is not public, or undefined when it is.
 * @param {string} address @param {SpecialAddresses} special @returns {string | undefined} */
export function specialUse(address, special) {
  const named = special.find(([range]) => inRange(address, range));
  if (named !== undefined) return named[1];
  if (net.isIPv4(address)) return undefined;
  return inRange(address, '2000::/3') ? undefined : 'not global unicast';
}

/** Whether one may connect to the address: it is public, or a rule names it.
 * @param {string} address @param {readonly string[]} allowed @param {SpecialAddresses} special */
export function mayConnect(address, allowed, special) {
  return specialUse(address, special) === undefined || allowed.some((range) => inRange(address, range));
}

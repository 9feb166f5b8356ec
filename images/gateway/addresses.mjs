// Which addresses are public. Everything else is refused unless a rule names it.
import net from 'node:net';

/** From the IANA special-purpose registries, and the metadata addresses of clouds that use public-looking ones. */
const SPECIAL = /** @type {const} */ ([
  ['0.0.0.0/8', 'this network'],
  ['10.0.0.0/8', 'private'],
  ['100.64.0.0/10', 'shared'],
  ['127.0.0.0/8', 'loopback'],
  ['168.63.129.16/32', 'metadata'],
  ['169.254.0.0/16', 'link-local, metadata'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'protocol assignments'],
  ['192.0.2.0/24', 'documentation'],
  ['192.31.196.0/24', 'special-purpose'],
  ['192.52.193.0/24', 'special-purpose'],
  ['192.88.99.0/24', '6to4 relay'],
  ['192.168.0.0/16', 'private'],
  ['192.175.48.0/24', 'special-purpose'],
  ['198.18.0.0/15', 'benchmark'],
  ['198.51.100.0/24', 'documentation'],
  ['203.0.113.0/24', 'documentation'],
  ['224.0.0.0/4', 'multicast'],
  ['240.0.0.0/4', 'reserved'],
  // Inside 2000::/3. Addresses outside it are refused anyway.
  ['2001::/23', 'protocol assignments'],
  ['2001:db8::/32', 'documentation'],
  ['2002::/16', '6to4'],
  ['2620:4f:8000::/48', 'special-purpose'],
  ['3fff::/20', 'documentation'],
]);

/** Names of ranges outside 2000::/3, for a better message. */
const OUTSIDE = /** @type {const} */ ([
  ['::1/128', 'loopback'],
  ['::ffff:0:0/96', 'IPv4-mapped'],
  ['64:ff9b::/96', 'NAT64'],
  ['64:ff9b:1::/48', 'NAT64'],
  ['fc00::/7', 'private'],
  ['fe80::/10', 'link-local'],
  ['ff00::/8', 'multicast'],
]);

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

/** Why an address is not public, or undefined when it is.
 * @param {string} address @returns {string | undefined} */
export function specialUse(address) {
  const named =
    SPECIAL.find(([range]) => inRange(address, range)) ?? OUTSIDE.find(([range]) => inRange(address, range));
  if (named !== undefined) return named[1];
  if (net.isIPv4(address)) return undefined;
  return inRange(address, '2000::/3') ? undefined : 'not global unicast';
}

/** Whether one may connect to the address: it is public, or a rule names it.
 * @param {string} address @param {readonly string[]} allowed */
export function mayConnect(address, allowed) {
  return specialUse(address) === undefined || allowed.some((range) => inRange(address, range));
}

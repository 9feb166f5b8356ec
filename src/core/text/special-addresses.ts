/** A range of addresses, and what it is for. */
export type SpecialRange = readonly [range: string, use: string];

/**
 * Addresses that are not public: the IANA special-purpose registries, and the metadata addresses of clouds that use
 * public-looking ones. All of IPv6 outside `2000::/3` is not public either; rows outside it give a better message.
 */
export const SPECIAL_ADDRESSES: readonly SpecialRange[] = [
  // The first row that has an address names its use: single addresses are before the ranges around them.
  ['100.100.100.200/32', 'metadata'],
  ['fd00:ec2::254/128', 'metadata'],
  ['fd20:ce::254/128', 'metadata'],
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
  ['2001::/23', 'protocol assignments'],
  ['2001:db8::/32', 'documentation'],
  ['2002::/16', '6to4'],
  ['2620:4f:8000::/48', 'special-purpose'],
  ['3fff::/20', 'documentation'],
  ['::1/128', 'loopback'],
  ['::ffff:0:0/96', 'IPv4-mapped'],
  ['64:ff9b::/96', 'NAT64'],
  ['64:ff9b:1::/48', 'NAT64'],
  ['fc00::/7', 'private'],
  ['fe80::/10', 'link-local'],
  ['ff00::/8', 'multicast'],
];

/**
 * Uses of addresses of a company's own network. Only these are suggested as an exception. For any other (loopback,
 * metadata, addresses that map to another one), a user who pastes the suggestion would open the machine itself.
 */
export const SUGGESTED_USES: ReadonlySet<string> = new Set(['private', 'shared', 'benchmark']);

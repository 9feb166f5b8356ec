import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** The gateway's table (images/gateway/addresses.mjs), which the host cannot import. A test compares the two. */
const SPECIAL_V4 = `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12
  192.0.0.0/24 192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15
  198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4`;
const SPECIAL_V6 = '2001::/23 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20';

const special = listOf([...SPECIAL_V4.split(/\s+/), ...SPECIAL_V6.split(' ')]);
const globalV6 = listOf(['2000::/3']);

/** Whether the host may connect to the address: it is public, or one of the ranges has it. */
export function mayConnect(address: string, allowed: readonly string[]): boolean {
  // To BlockList, a mapped address (`::ffff:10.0.0.1`) is in a range of IPv4.
  const ofFamily = allowed.filter((range) => range.includes(':') === address.includes(':'));
  return isPublic(address) || has(listOf(ofFamily), address);
}

function isPublic(address: string): boolean {
  if (isIPv4(address)) return !has(special, address);
  // An address with a zone is one of a link.
  return isIPv6(address) && !address.includes('%') && has(globalV6, address) && !has(special, address);
}

function has(list: BlockList, address: string): boolean {
  if (isIPv4(address)) return list.check(address, 'ipv4');
  return isIPv6(address) && !address.includes('%') && list.check(address, 'ipv6');
}

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [base = '', bits] = range.split('/');
    const family = isIPv4(base) ? 'ipv4' : 'ipv6';
    list.addSubnet(base, bits === undefined ? (family === 'ipv4' ? 32 : 128) : Number(bits), family);
  }
  return list;
}

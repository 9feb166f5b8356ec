import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { SPECIAL_ADDRESSES, SUGGESTED_USES } from '../../core/text/special-addresses.ts';

const globalV6 = listOf(['2000::/3']);
/** Without IPv6 outside of `globalV6`, which is refused anyway: to BlockList, a mapped range has every IPv4 address. */
const special = listOf(SPECIAL_ADDRESSES.map(([range]) => range).filter(isOfPublicKind));

/** Whether the host may connect to the address: it is public, or one of the ranges has it. */
export function mayConnect(address: string, allowed: readonly string[]): boolean {
  // To BlockList, a mapped address (`::ffff:10.0.0.1`) is in a range of IPv4.
  const ofFamily = allowed.filter((range) => range.includes(':') === address.includes(':'));
  return isPublic(address) || has(listOf(ofFamily), address);
}

/** The range of `allow-address` for this address alone; undefined for an address that no message may suggest. */
export function suggestedRange(address: string): string | undefined {
  const use = SPECIAL_ADDRESSES.find(
    ([range]) => range.includes(':') === address.includes(':') && has(listOf([range]), address),
  )?.[1];
  if (use === undefined || !SUGGESTED_USES.has(use)) return undefined;
  return `${address}/${isIPv4(address) ? 32 : 128}`;
}

function isPublic(address: string): boolean {
  if (isIPv4(address)) return !has(special, address);
  // An address with a zone is one of a link.
  return isIPv6(address) && !address.includes('%') && has(globalV6, address) && !has(special, address);
}

function isOfPublicKind(range: string): boolean {
  const [base = ''] = range.split('/');
  return isIPv4(base) || globalV6.check(base, 'ipv6');
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

import { expect, it } from 'vitest';
import { mayConnect as gatewayMayConnect } from '../../../../images/gateway/addresses.mjs';
import { mayConnect, suggestedRange } from '../../../../src/agents/mcp-login/public-address.ts';
import { SPECIAL_ADDRESSES } from '../../../../src/core/text/special-addresses.ts';

const V4 = `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24
  192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15
  198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4`.split(/\s+/);
const V6 = `2000:: 2001:: 2001:1ff:ffff:: 2001:200:: 2001:db8:: 2001:db9:: 2002:: 2003:: 2606:4700::1111 2620:4f:8000::1
  2620:4f:8001:: 3fff:: 3fff:fff:ffff:: 4000:: ::1 :: ::ffff:8.8.8.8 ::ffff:10.0.0.1 64:ff9b::8.8.8.8 fc00::1 fd12::
  fe80::1 fe80::1%eth0 ff02::1 1fff:ffff:: 3fff:1000::`.split(/\s+/);

const text = (value: number): string => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.');

/** The first and last address of each range, and their neighbours outside. */
const edges = V4.flatMap((range) => {
  const [base = '', bits] = range.split('/');
  const first = base.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  const last = first + 2 ** (32 - Number(bits)) - 1;
  return [first - 1, first, last, last + 1].filter((value) => value >= 0 && value < 2 ** 32).map(text);
});

it('the host judges addresses as the gateway does', () => {
  const addresses = [...edges, ...V6, '8.8.8.8', '1.1.1.1', 'no address', ''];
  for (const allowed of [[], ['10.0.0.0/8', 'fd00::/8', '127.0.0.1/32']])
    for (const address of addresses)
      expect([address, mayConnect(address, allowed)]).toEqual([
        address,
        gatewayMayConnect(address, allowed, SPECIAL_ADDRESSES),
      ]);
  expect(edges.filter((address) => mayConnect(address, [])).length).toBeGreaterThan(15);
});

it('suggests only an address of a private network as an exception', () => {
  expect(['10.1.2.3', '192.168.1.1', '100.64.0.1', 'fd00::1'].map(suggestedRange)).toEqual([
    '10.1.2.3/32',
    '192.168.1.1/32',
    '100.64.0.1/32',
    'fd00::1/128',
  ]);
  const never = `169.254.169.254 168.63.129.16 100.100.100.200 fd00:ec2::254 fd20:ce::254 fe80::1 fe80::1%eth0 127.0.0.1
    ::1 0.0.0.0 ::ffff:10.0.0.1 ::ffff:169.254.169.254 64:ff9b::169.254.169.254 224.0.0.1 192.0.0.192 8.8.8.8`;
  for (const address of never.split(/\s+/)) expect([address, suggestedRange(address)]).toEqual([address, undefined]);
});

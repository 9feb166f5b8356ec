import dns from 'node:dns/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, it, vi } from 'vitest';
import { readClientHello } from '../../../../images/gateway/client-hello.mjs';
import { createEgress } from '../../../../images/gateway/egress.mjs';
import { createRelay } from '../../../../images/gateway/relay.mjs';
import { SPECIAL_ADDRESSES } from '../../../../src/core/text/special-addresses.ts';
import type { GatewayConfig } from '../../../../src/core/types/gateway.ts';
import { suggestRules } from '../../../../src/network/gateway/rules/suggest-rules.ts';
import { helloWith, serverName } from './client-hello.ts';

const egressFor = (config: Partial<GatewayConfig>) => {
  const base = {
    rules: [],
    allowAddresses: [],
    specialAddresses: SPECIAL_ADDRESSES,
    quiet: [],
    providerHosts: [],
    hosts: {},
    brokers: [],
    limits: { connectMs: 20_000 },
  };
  return createEgress(
    { ...base, ...config } as unknown as GatewayConfig,
    createRelay(() => undefined),
  );
};

it('resolves a name once for each connection, and connects to the address that was checked', async () => {
  const from: string[] = [];
  const server = createServer((socket: Socket) => {
    from.push(String(socket.localAddress));
    socket.end();
  });
  await new Promise<void>((done) => server.listen(0, '0.0.0.0', done));
  const { port } = server.address() as AddressInfo;
  const answers = ['127.0.0.2', '127.0.0.1', '::ffff:127.0.0.1', '169.254.169.254', '127.0.0.2'];
  const lookup = vi
    .spyOn(dns, 'lookup')
    .mockImplementation((async () => [{ address: answers.shift() ?? '', family: 4 }]) as unknown as typeof dns.lookup);
  try {
    const egress = egressFor({ allowAddresses: ['127.0.0.2/32'] });
    const first = await egress.dial('flips.test', port);
    first.on('error', () => undefined).destroy();
    expect(lookup).toHaveBeenCalledTimes(1);
    for (const address of ['127.0.0.1', '::ffff:127.0.0.1', '169.254.169.254'])
      await expect(egress.dial('flips.test', port)).rejects.toThrow(`resolves to ${address}`);
    (await egress.dial('flips.test', port)).on('error', () => undefined).destroy();
    await expect.poll(() => from).toEqual(['127.0.0.2', '127.0.0.2']);
    // Control: with the layer open the same answer is followed.
    answers.push('127.0.0.1');
    (await egressFor({ allowAddresses: ['127.0.0.0/8'] }).dial('flips.test', port)).destroy();
    await expect.poll(() => from.length).toBe(3);
  } finally {
    lookup.mockRestore();
    server.close();
  }
});

it('writes an address in the form that network --suggest reads', async () => {
  const lookup = vi
    .spyOn(dns, 'lookup')
    .mockImplementation((async () => [{ address: '10.1.2.3', family: 4 }]) as unknown as typeof dns.lookup);
  try {
    const error: Error = await egressFor({})
      .dial('nexus.test', 443)
      .then(
        () => new Error('it passed'),
        (reason) => reason,
      );
    const entry = { at: '', kind: 'connect', method: 'CONNECT', up: 0, down: 0, ms: 0, verdict: 'refused' } as const;
    const { rules } = suggestRules([{ ...entry, host: 'nexus.test', port: 443, why: error.message }]);
    expect(rules).toEqual(['--allow-address 10.1.2.3']);
  } finally {
    lookup.mockRestore();
  }
});

it('limits the number of names below a wildcard, and checks a name before it resolves it', () => {
  const lookup = vi.spyOn(dns, 'lookup');
  const egress = egressFor({ rules: [{ host: '*.wild.test', from: 't' }] });
  for (let i = 0; i < 200; i += 1) egress.ruleFor(`n${i}.wild.test`, 443, [443]);
  egress.ruleFor('n7.wild.test', 443, [443]);
  expect(() => egress.ruleFor('one-more.wild.test', 443, [443])).toThrow('more than 200 different names');
  expect(() => egress.ruleFor('secret-bytes.evil.test', 443, [443])).toThrow('not an allowed host');
  expect(lookup).not.toHaveBeenCalled();
  lookup.mockRestore();
});

it('reads the server name, and recognises names that are encrypted, repeated or empty', () => {
  const plain = { kind: 'hello', serverName: 'good.test', encrypted: false };
  expect(readClientHello(helloWith([[0, serverName('good.test')]]))).toEqual(plain);
  expect(
    readClientHello(
      helloWith([
        [0, serverName('good.test')],
        [0xfe0d, '00'],
      ]),
    ),
  ).toEqual({ ...plain, encrypted: true });
  expect(
    readClientHello(
      helloWith([
        [0, serverName('good.test')],
        [0, serverName('evil.test')],
      ]),
    ).kind,
  ).toBe('bad');
  const two = `${serverName('good.test').slice(4)}${serverName('evil.test').slice(4)}`;
  expect(readClientHello(helloWith([[0, (two.length / 2).toString(16).padStart(4, '0') + two]])).kind).toBe('bad');
  expect(readClientHello(helloWith([[0, '0000']])).kind).toBe('bad');
  expect(readClientHello(helloWith([]))).toEqual({ kind: 'hello', serverName: undefined, encrypted: false });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inRange, mayConnect, specialUse } from '../../../../images/gateway/addresses.mjs';
import { readClientHello } from '../../../../images/gateway/client-hello.mjs';
import { FirstMessage } from '../../../../images/gateway/first-bytes.mjs';
import { cleanName, hostName, nameMatches } from '../../../../images/gateway/names.mjs';
import { methodAllowed } from '../../../../images/gateway/request-rules.mjs';
import { SPECIAL_ADDRESSES } from '../../../../src/core/text/special-addresses.ts';
import type { NetworkEntry } from '../../../../src/core/types/gateway.ts';
import type { BrokerRule, Policy } from '../../../../src/core/types/policy.ts';
import { gatewayConfig } from '../../../../src/network/gateway/config.ts';
import { resolveBrokers } from '../../../../src/network/gateway/rules/brokers.ts';
import { parseAddressRange, parseHostRule, policyRules } from '../../../../src/network/gateway/rules/host-rules.ts';
import { suggestRules } from '../../../../src/network/gateway/rules/suggest-rules.ts';
import { BARE_POLICY } from '../../../support/gateway-process.ts';
import { fragmented, helloWith, serverName } from './client-hello.ts';

it('reads host rules, and refuses what would allow more than one domain', () => {
  expect(parseHostRule('Example.org:8443', 't')).toEqual({ host: 'example.org', port: 8443, from: 't' });
  expect(parseHostRule('*.Example.org', 't')).toEqual({ host: '*.example.org', from: 't' });
  expect(parseHostRule('b\u00fccher.example', 't').host).toBe('xn--bcher-kva.example');
  expect(parseHostRule('[FD00::1]:443', 't')).toEqual({ host: 'fd00::1', port: 443, from: 't' });
  const bad = [
    '*',
    '*.',
    '*.com',
    'a.*.org',
    '*example.org',
    'https://x.org',
    'x.org/',
    'x.org:0',
    'x.org:65536',
    '',
    ' ',
    'a b',
    'x@y.org',
  ];
  for (const text of bad) expect(() => parseHostRule(text, 't'), text).toThrow();
  for (const text of ['10.0.0.0/33', '10.0.0', 'x', '::1/129', '10.0.0.0/8/8', 'fe80::1%eth0/64']) {
    expect(() => parseAddressRange(text), text).toThrow();
  }
  expect(parseAddressRange('fd00::/8')).toBe('fd00::/8');
});

it('has registries and no code host by default', () => {
  const policy = { allowHosts: [], networkPresets: ['default'], brokers: [] };
  const hosts = policyRules(policy).map((rule) => rule.host);
  expect(hosts).toContain('registry.npmjs.org');
  expect(hosts.filter((host) => host.includes('github'))).toEqual([]);
  expect(() => policyRules({ ...policy, networkPresets: ['nmp'] })).toThrow('nmp');
});

it('restricts a secret to one host and its default port, and to one line that is valid in a header', async () => {
  const rule = { header: 'Authorization', methods: ['GET'], from: ['echo', 'Bearer s3cret'] };
  const resolve = (one: BrokerRule) => resolveBrokers({ brokers: [one] });
  const secret = { header: 'Authorization', value: 'Bearer s3cret' };
  expect(await resolve({ ...rule, host: 'Api.Test' })).toEqual([
    { host: 'api.test', secret, passes: { methods: ['GET'] } },
  ]);
  for (const host of ['*.api.test', 'api.test:8443'])
    await expect(resolve({ ...rule, host })).rejects.toMatchObject({ code: 'BROKER_FAILED' });
  for (const from of [
    ['printf', 's3cret\\nX: y'],
    ['printf', 's3cret\\001'],
    ['true'],
    ['sh', '-c', 'echo s3cret; exit 1'],
    [],
  ]) {
    const failed = await resolve({ ...rule, host: 'api.test', from }).catch((error: Error) => error);
    expect([from, failed]).toEqual([from, expect.objectContaining({ code: 'BROKER_FAILED' })]);
    expect(JSON.stringify([String(failed), failed])).not.toContain('s3cret\\');
  }
});

it('reserves the provider’s hosts for the broker, a company’s provider included', () => {
  const hostsOf = (url: string, credentials: Policy['credentials']): readonly string[] => {
    const upstreams = { provider: { url, relay: false }, proxy: undefined, targets: {}, extraCa: '' };
    return gatewayConfig({ ...BARE_POLICY, credentials }, upstreams, undefined, []).providerHosts;
  };
  expect(hostsOf('https://llm.corp.test/v1', 'broker')).toEqual(
    expect.arrayContaining(['*.anthropic.com', 'llm.corp.test']),
  );
  expect(hostsOf('http://127.0.0.1:8080', 'broker')).not.toContain('127.0.0.1');
  // There the agent holds the credential itself.
  expect(hostsOf('https://llm.corp.test/v1', 'file')).toEqual([]);
});

it('recognises special addresses in every form that a resolver returns', () => {
  const special = [
    '0.0.0.0 10.1.2.3 100.64.0.1 100.100.100.200 127.0.0.1 168.63.129.16 169.254.169.254 172.16.0.1 172.31.255.255',
    '192.0.0.1 192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1 255.255.255.255',
    ':: ::1 ::ffff:8.8.8.8 ::ffff:7f00:1 ::8.8.8.8 64:ff9b::808:808 64:ff9b:1::1 100::1 2001::1 2001:db8::1 2002:7f00:1::',
    '3fff::1 5f00::1 fc00::1 fd00:ec2::254 fe80::1 fec0::1 ff02::1',
  ];
  for (const address of special.join(' ').split(' '))
    expect(specialUse(address, SPECIAL_ADDRESSES), address).toBeDefined();
  for (const address of ['8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450::1']) {
    expect(specialUse(address, SPECIAL_ADDRESSES), address).toBeUndefined();
  }
  expect(mayConnect('10.1.2.3', ['10.1.0.0/16'], SPECIAL_ADDRESSES)).toBe(true);
  expect(mayConnect('10.2.2.3', ['10.1.0.0/16'], SPECIAL_ADDRESSES)).toBe(false);
  expect(mayConnect('::ffff:10.1.2.3', ['10.1.0.0/16'], SPECIAL_ADDRESSES)).toBe(false);
  expect(inRange('fd00::1', '10.0.0.0/8')).toBe(false);
  expect(inRange('::ffff:1.2.3.4', '::ffff:102:304/128')).toBe(true);
});

it('normalises a name to one spelling, and refuses text that a resolver might read as an address', () => {
  const odd = [
    '',
    '.',
    'a..b',
    'a.b.',
    '-a.b',
    'a-.b',
    '1.2.3',
    '0x7f.1',
    '127.1',
    'a.0x1',
    'a\0b',
    'a%00b',
    'a b',
    '\u00e9.x',
    '[::1%eth0]',
  ];
  for (const name of odd) expect(hostName(name), name).toBeUndefined();
  expect(hostName('A_b.Example')).toBe('a_b.example');
  for (const name of ['x.org', 'ax.org', 'evilx.org', '.x.org', 'x.org.evil', 'a.x.org.']) {
    expect(nameMatches('*.x.org', name), name).toBe(false);
  }
  expect(nameMatches('*.x.org', 'a.b.x.org')).toBe(true);
  expect(nameMatches('*.0.1', '127.0.0.1')).toBe(false);
  expect(hostName(`${'a.'.repeat(130)}org`)).toBeUndefined();
  expect(cleanName(`a\nb\x1b[2J \u202e\u00e9${'x'.repeat(300)}`)).toMatch(
    /^a\\xab\\x1b\[2J\\x20\\x202e\\xe9x{200,260}$/,
  );
  fc.assert(
    fc.property(
      fc.string(),
      (text) => hostName(text) === undefined || hostName(hostName(text) ?? '') === hostName(text),
    ),
  );
});

it('never throws on first bytes, whatever they are', () => {
  const hello = fc
    .uint8Array({ maxLength: 400 })
    .map((bytes) => Buffer.from([22, 3, 1, 0, bytes.length & 255, 1, 0, 0, ...bytes]));
  fc.assert(fc.property(hello, (bytes) => ['more', 'bad', 'hello', 'plain'].includes(readClientHello(bytes).kind)));
});

it("classifies git's fetches as reads and its pushes as writes", () => {
  const get = ['GET'];
  expect(methodAllowed(get, 'GET', '/o/r.git/info/refs?service=git-upload-pack')).toBe(true);
  expect(methodAllowed(get, 'POST', '/o/r.git/git-upload-pack')).toBe(true);
  expect(methodAllowed(get, 'GET', '/o/r.git/info/refs?service=git-receive-pack')).toBe(false);
  expect(methodAllowed(get, 'GET', '/o/r.git/info/refs?service=git%2Dreceive%2Dpack')).toBe(false);
  expect(methodAllowed(get, 'GET', '/o/r.git/info/refs?service=git-%72eceive-pack')).toBe(false);
  expect(methodAllowed(get, 'GET', '/o/r.git/info/refs?service=%zz')).toBe(false);
  expect(methodAllowed(get, 'POST', '/o/r.git/git-receive-pack')).toBe(false);
  expect(methodAllowed(get, 'POST', '/repos/o/r/issues')).toBe(false);
  expect(methodAllowed(['GET', 'POST'], 'POST', '/o/r.git/git-receive-pack')).toBe(true);
});

describe('network --suggest', () => {
  const entry = {
    at: '',
    kind: 'connect',
    method: 'CONNECT',
    up: 0,
    down: 0,
    ms: 0,
    verdict: 'refused',
  } as const;
  const byAddress = (host: string, address: string, use: string): NetworkEntry => {
    const why = `${host} resolves to ${address} (${use}); --allow-address would have to name it`;
    return { ...entry, host, port: 443, why };
  };

  it('lists the hosts that a session would have needed', () => {
    const entries: NetworkEntry[] = [
      { ...entry, host: 'b.test', port: 443, unlisted: true },
      { ...entry, host: 'b.test', port: 443, unlisted: true },
      { ...entry, host: 'a.test', port: 8443, unlisted: true },
      { ...entry, host: 'quiet.test', port: 443, unlisted: true, quiet: true },
      { ...entry, host: 'passed.test', port: 443, verdict: 'passed' },
    ];
    expect(suggestRules(entries)).toEqual({ rules: ['--allow-host a.test:8443', '--allow-host b.test'], remarks: [] });
  });

  it('counts what was refused by its address, and suggests only addresses of private networks', () => {
    const entries = [
      ...Array.from({ length: 43 }, () => byAddress('nexus.corp', '10.1.2.3', 'private')),
      byAddress('other.corp', 'fd00::1', 'private'),
      byAddress('meta.test', '169.254.169.254', 'link-local, metadata'),
    ];
    expect(suggestRules(entries)).toEqual({
      rules: ['--allow-address 10.1.2.3', '--allow-address fd00::1'],
      remarks: [
        '44 requests were refused because the address is not public: nexus.corp (10.1.2.3, private), other.corp (fd00::1, private). --allow-address lets the agent reach everything at that address.',
        '1 request was refused because the address is not public: meta.test (169.254.169.254, link-local, metadata). No option is suggested for such an address.',
      ],
    });
  });

  it('never reports that no request was refused if one was, whatever its reason', () => {
    const entries = [
      { ...entry, host: 'a.test', port: 443, why: 'the TLS handshake names no server' },
      // Text of another host, and no address: a reason suggests nothing by its looks.
      { ...entry, host: 'b.test', port: 443, why: 'a.test resolves to 10.0.0.1 (private); x' },
      { ...entry, host: 'c.test', port: 443, why: 'c.test resolves to ::::: (private); x' },
    ];
    expect(suggestRules(entries)).toEqual({
      rules: [],
      remarks: ['3 requests were refused for a reason that no rule changes. run-claude network names the reason.'],
    });
  });
});

it('reads a ClientHello that arrives byte by byte no more often than it has records', async () => {
  // What the server's name hides behind: an extension of n bytes.
  const helloOf = (n: number): Buffer =>
    helloWith([
      [21, '00'.repeat(n)],
      [0, serverName('good.test')],
    ]);
  const push = (bytes: Buffer): { reads: number; found: object } => {
    const message = new FirstMessage();
    let found: object = {};
    for (let at = 0; at < bytes.length; at += 1) found = message.push(bytes.subarray(at, at + 1));
    expect(message.bytes().equals(bytes)).toBe(true);
    return { reads: message.reads, found };
  };
  const whole = { kind: 'hello', serverName: 'good.test', encrypted: false };
  for (const n of [2000, 4000, 8000]) expect(push(helloOf(n))).toEqual({ reads: 3, found: whole });
  // Split on purpose: for each record its head, and its end.
  expect(push(fragmented(helloOf(2000), 50))).toEqual({ reads: 85, found: whole });
  expect(push(fragmented(helloOf(2000), 10))).toMatchObject({ found: { kind: 'bad' } });
  for (const bytes of [Buffer.from('GET / HTTP/1.1'), Buffer.from([22, 2, 1, 0, 1])])
    expect(push(bytes).found).not.toMatchObject({ kind: 'more' });
});

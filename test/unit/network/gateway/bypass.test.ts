import { createServer, type Server } from 'node:net';
import { createServer as createTlsServer, connect as tlsConnect } from 'node:tls';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createCa, createHostCertificate } from '../../../../images/gateway/certificate.mjs';
import { GatewayProcess } from '../../../support/gateway-process.ts';
import { fragmented, helloWith, serverName } from './client-hello.ts';

// The real program on unix sockets. Everything that must not be reached leads to a canary, which no attempt may touch;
// the control at the end opens each layer in turn and shows the same attempts arriving.

const ca = createCa(Date.now());
let canaryHits = 0;
let goodHits = 0;
const servers: Server[] = [];
let gateway: GatewayProcess;
let canary = 0;
let config: object;

async function listen(server: Server, host: string): Promise<number> {
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, host, done));
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** The first message of a TLS client for this server name. */
function helloFor(servername: string | undefined): Promise<Buffer> {
  return new Promise((done) => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', (bytes) => {
        socket.destroy();
        server.close(() => done(bytes));
      });
    }).listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      tlsConnect({ host: '127.0.0.1', port, ...(servername === undefined ? {} : { servername }) }).on(
        'error',
        () => undefined,
      );
    });
  });
}

const connectTo = (authority: string, host = authority): string =>
  `CONNECT ${authority} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
const get = (url: string, host: string, more = ''): string => `GET ${url} HTTP/1.1\r\nHost: ${host}\r\n${more}\r\n`;

beforeAll(async () => {
  canary = await listen(
    createServer((socket) => {
      canaryHits += 1;
      socket
        .on('error', () => undefined)
        .end('HTTP/1.1 200 OK\r\ncontent-length: 6\r\nconnection: close\r\n\r\ncanary');
    }),
    '127.0.0.1',
  );
  const { key, cert } = createHostCertificate(ca, 'good.test', Date.now());
  const good = await listen(
    createTlsServer({ key, cert }, (socket) => {
      goodHits += 1;
      socket.on('error', () => undefined).end('good');
    }),
    '127.0.0.2',
  );
  const plain = await listen(
    createServer((socket) => {
      goodHits += 1;
      socket.on('error', () => undefined);
      socket.end('HTTP/1.1 302 Found\r\nlocation: http://evil.test/\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
    }),
    '127.0.0.2',
  );
  const from = 'test';
  const rules = [
    'good.test',
    'plain.test',
    '*.wild.test',
    'private.test',
    'mapped.test',
    'nat64.test',
    'mixed.test',
    'linklocal.test',
    'metadata.test',
    'sixtofour.test',
    'zero.test',
    'broadcast.test',
    // Allowed by mistake.
    'api.anthropic.com',
  ]
    .map((host): { host: string; from: string; port?: number } => ({ host, from }))
    .concat([{ host: 'odd.test', port: 8443, from }]);
  config = {
    rules,
    allowAddresses: ['127.0.0.2/32'],
    hosts: {
      'good.test': [`127.0.0.2@${good}`],
      'plain.test': [`127.0.0.2@${plain}`],
      'a.wild.test': [`127.0.0.2@${good}`],
      'odd.test': [`127.0.0.2@${good}`],
      'evil.test': [`127.0.0.1@${canary}`],
      'wild.test': [`127.0.0.1@${canary}`],
      'private.test': [`127.0.0.1@${canary}`],
      'mapped.test': [`::ffff:127.0.0.1@${canary}`],
      'nat64.test': ['64:ff9b::7f00:1'],
      'mixed.test': [`127.0.0.2@${good}`, `127.0.0.1@${canary}`],
      'linklocal.test': ['fe80::1'],
      'metadata.test': ['169.254.169.254'],
      'sixtofour.test': ['2002:7f00:1::'],
      'zero.test': [`0.0.0.0@${canary}`],
      'broadcast.test': ['255.255.255.255'],
      'api.anthropic.com': [`127.0.0.2@${plain}`],
    },
  };
  gateway = await GatewayProcess.start({ config });
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  for (const server of servers) server.close();
});

it('allows TLS to the matching name, plain HTTP, a wildcard, and a redirect that it returns to the client', async () => {
  const close = 'connection: close\r\n';
  // The server's side of the handshake.
  const hello = /\x16\x03/;
  const [tls, pieces, upper, wild, redirect, inside] = await Promise.all([
    gateway.say(connectTo('good.test:443'), await helloFor('good.test'), hello),
    gateway.say(connectTo('good.test:443'), fragmented(await helloFor('good.test'), 40), hello),
    gateway.say(connectTo('GOOD.test:443'), await helloFor('Good.Test'), hello),
    gateway.say(connectTo('a.wild.test:443'), await helloFor('a.wild.test'), hello),
    gateway.say(get('http://plain.test/', 'plain.test', close)),
    gateway.say(connectTo('plain.test:80'), get('/', 'plain.test', close)),
  ]);
  for (const answer of [tls, pieces, upper, wild]) expect(answer).toMatch(/ 200 [\s\S]*\x16\x03/);
  for (const answer of [redirect, inside]) expect(answer).toContain('302 Found');
  expect(goodHits).toBeGreaterThan(0);
});

const WEBSOCKET =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
const H2C = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n';
const TWO_NAMES = (() => {
  const two = `${serverName('good.test').slice(4)}${serverName('evil.test').slice(4)}`;
  return (two.length / 2).toString(16).padStart(4, '0') + two;
})();

const hex = (text: string): string => Buffer.from(text).toString('hex');

function changed(bytes: Buffer, at: number, value: number): Buffer {
  bytes[at] = value;
  return bytes;
}

/** What, the bytes, and the bytes that follow once a tunnel is open. */
const attempts: readonly [string, string, (() => Promise<Buffer | string>)?][] = [
  ['an unlisted host', connectTo('evil.test:443')],
  ['an unlisted host, plain', get('http://evil.test/', 'evil.test')],
  ['an address', connectTo('127.0.0.1:443')],
  ['an allowed address range without a host rule', connectTo('127.0.0.2:443')],
  ['an IPv6 address', connectTo('[::1]:443')],
  ['an IPv4-mapped address', connectTo('[::ffff:127.0.0.1]:443')],
  ['a decimal address', connectTo('2130706433:443')],
  ['an octal address', connectTo('0177.0.0.1:443')],
  ['a hexadecimal address', connectTo('0x7f000001:443')],
  ['a short address', connectTo('127.1:443')],
  ['a zone in an address', connectTo('[fe80::1%25eth0]:443')],
  ['localhost', connectTo('localhost:443')],
  ['a name that resolves to loopback', connectTo('private.test:443')],
  ['a name that resolves to loopback, plain', get('http://private.test/', 'private.test')],
  ['a name that resolves to a mapped address', connectTo('mapped.test:443')],
  ['a name that resolves to a NAT64 address', connectTo('nat64.test:443')],
  ['a name with one private address among others', connectTo('mixed.test:443')],
  ['a name that resolves to link-local', connectTo('linklocal.test:443')],
  ['a name that resolves to metadata', connectTo('metadata.test:443')],
  ["the provider's own host", connectTo('api.anthropic.com:443'), () => helloFor('api.anthropic.com')],
  ["the provider's own host, plain", get('http://api.anthropic.com/', 'api.anthropic.com')],
  ['another port of an allowed host', connectTo('good.test:22')],
  ['the default port where the rule names another', connectTo('odd.test:443')],
  ['no port', connectTo('good.test')],
  ['port 0', connectTo('good.test:0')],
  ['a port past the end', connectTo('good.test:65979')],
  ['a port with a sign', connectTo('good.test:+443')],
  ['a trailing dot', connectTo('good.test.:443')],
  ['an allowed name as a prefix', connectTo('good.test.evil.test:443')],
  ['an allowed name as a suffix', connectTo('evilgood.test:443')],
  ['a name that ends like one below a wildcard', connectTo('evilwild.test:443')],
  ['the name above a wildcard', connectTo('wild.test:443')],
  ['a NUL in the name', connectTo('evil.test\0.good.test:443')],
  ['an encoded NUL in the name', connectTo('evil.test%00.wild.test:443')],
  ['user information', connectTo('good.test@evil.test:443')],
  ['user information, plain', get('http://plain.test@evil.test/', 'evil.test')],
  ['a backslash', get('http://evil.test\\@plain.test/', 'plain.test')],
  ['a name in another script', connectTo('go\u00f6d.test:443')],
  ['a fullwidth dot', connectTo('good\uff0etest:443')],
  ['the Host header of CONNECT differing', connectTo('good.test:443', 'evil.test:443')],
  ['the Host header differing', get('http://plain.test/', 'evil.test')],
  ['two Host headers', get('http://plain.test/', 'plain.test', 'Host: evil.test\r\n')],
  ['no Host header', 'GET http://plain.test/ HTTP/1.0\r\n\r\n'],
  ['the port of the Host header differing', get('http://plain.test/', 'plain.test:8080')],
  ['a path alone', get('/', 'plain.test')],
  ['an https address in absolute form', get('https://good.test/', 'good.test')],
  ['another scheme', get('ftp://plain.test/', 'plain.test')],
  [
    'both lengths',
    `POST http://plain.test/ HTTP/1.1\r\nHost: plain.test\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  ],
  ['a space before the colon', 'GET http://plain.test/ HTTP/1.1\r\nHost : evil.test\r\n\r\n'],
  [
    'a folded header',
    'GET http://plain.test/ HTTP/1.1\r\nHost: plain.test\r\nX: a\r\n Host: evil.test\r\nHost: evil.test\r\n\r\n',
  ],
  ['headers too large', get('http://plain.test/', 'plain.test', `X: ${'a'.repeat(20_000)}\r\n`)],
  ['an upgrade to something else', get('http://plain.test/', 'plain.test', 'Connection: Upgrade\r\nUpgrade: h2c\r\n')],
  ['SOCKS', '\x05\x01\x00'],
  ['slow headers', 'GET http://plain.test/ HTTP/1.1\r\nHost: pl'],
  ['another server name', connectTo('good.test:443'), () => helloFor('evil.test')],
  ['a server name below the allowed one', connectTo('good.test:443'), () => helloFor('x.good.test')],
  ['no server name', connectTo('good.test:443'), () => helloFor(undefined)],
  ['plain HTTP in a TLS tunnel', connectTo('good.test:443'), async () => get('/', 'evil.test')],
  ['SSH in a TLS tunnel', connectTo('good.test:443'), async () => 'SSH-2.0-x\r\n'],
  ['half a ClientHello', connectTo('good.test:443'), async () => (await helloFor('good.test')).subarray(0, 40)],
  [
    'a ClientHello longer than its record',
    connectTo('good.test:443'),
    async () => Buffer.from('16030100050100ffff03', 'hex'),
  ],
  ['another host inside a plain tunnel', connectTo('plain.test:80'), async () => get('/', 'evil.test')],
  [
    'absolute form inside a plain tunnel',
    connectTo('plain.test:80'),
    async () => get('http://evil.test/', 'evil.test'),
  ],
  ['HTTP/2 by prior knowledge', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['HTTP/2 in a tunnel without TLS', connectTo('good.test:443'), async () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['HTTP/2 in a plain tunnel', connectTo('plain.test:80'), async () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['an upgrade to h2c with its settings', get('http://plain.test/', 'plain.test', H2C)],
  ['an upgrade to TLS', get('http://plain.test/', 'plain.test', 'Connection: Upgrade\r\nUpgrade: TLS/1.2\r\n')],
  ['a WebSocket to an unlisted host', get('http://evil.test/', 'evil.test', WEBSOCKET)],
  ['a WebSocket whose Host header differs', get('http://plain.test/', 'evil.test', WEBSOCKET)],
  ['a WebSocket with a body', get('http://plain.test/', 'plain.test', `${WEBSOCKET}Content-Length: 4\r\n`)],
  [
    'a CONNECT with a body, to an unlisted host',
    `CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test:443\r\nContent-Length: 4\r\n\r\nGET `,
  ],
  ['a second CONNECT inside a plain tunnel', connectTo('plain.test:80'), async () => connectTo('evil.test:443')],
  ['a CONNECT in absolute form', connectTo('https://good.test:443', 'good.test:443')],
  ['a CONNECT to a path', connectTo('good.test:443/', 'good.test:443')],
  [
    'an encrypted server name next to the allowed one',
    connectTo('good.test:443'),
    async () =>
      helloWith([
        [0, serverName('good.test')],
        [0xfe0d, '00'],
      ]),
  ],
  [
    'an older encrypted server name (ESNI)',
    connectTo('good.test:443'),
    async () =>
      helloWith([
        [0, serverName('good.test')],
        [0xffce, '00'],
      ]),
  ],
  ['two server names in one extension', connectTo('good.test:443'), async () => helloWith([[0, TWO_NAMES]])],
  [
    'two server name extensions',
    connectTo('good.test:443'),
    async () =>
      helloWith([
        [0, serverName('good.test')],
        [0, serverName('evil.test')],
      ]),
  ],
  [
    'another server name in small records',
    connectTo('good.test:443'),
    async () => fragmented(await helloFor('evil.test'), 7),
  ],
  [
    'an empty record before the first message',
    connectTo('good.test:443'),
    async () => Buffer.concat([Buffer.of(22, 3, 1, 0, 0), await helloFor('good.test')]),
  ],
  [
    'a server name with a trailing dot',
    connectTo('good.test:443'),
    async () => helloWith([[0, serverName('good.test.')]]),
  ],
  ['a server name with a NUL', connectTo('good.test:443'), async () => helloWith([[0, serverName('good.test\0')]])],
  [
    'an SSL 2 hello',
    connectTo('good.test:443'),
    async () => Buffer.from('802e0100020015000000100100800700c0030080060040020080040080', 'hex'),
  ],
  [
    'early data before the first message',
    connectTo('good.test:443'),
    async () => Buffer.concat([Buffer.of(23, 3, 3, 0, 1, 0), await helloFor('good.test')]),
  ],
  ['a 6to4 address', connectTo('[2002:7f00:1::]:443')],
  ['a Teredo address', connectTo('[2001:0:7f00:1::1]:443')],
  ['a NAT64 address', connectTo('[64:ff9b::7f00:1]:443')],
  ['an IPv4-compatible address', connectTo('[::127.0.0.1]:443')],
  ['a translated address', connectTo('[::ffff:0:127.0.0.1]:443')],
  ['an address with leading zeros', connectTo('127.000.000.001:443')],
  ['an address in hexadecimal parts', connectTo('0x7f.0.0.1:443')],
  ['a bare IPv6 address', connectTo('::1:443')],
  ['a name that resolves to a 6to4 address', connectTo('sixtofour.test:443')],
  ['a name that resolves to the unspecified address', connectTo('zero.test:443')],
  ['a name that resolves to broadcast', connectTo('broadcast.test:443')],
  ['a name that looks alike, in punycode', connectTo('xn--gd-jmca.test:443')],
  ['a soft hyphen', connectTo('go\u00adod.test:443')],
  ['an encoded dot', get('http://plain%2etest/', 'plain.test')],
  ['a host after a fragment', get('http://evil.test#@plain.test/', 'plain.test')],
  ['a host before a query', get('http://evil.test?@plain.test/', 'plain.test')],
  ['no host', get('http:///', 'plain.test')],
  ['one slash', get('http:/evil.test/', 'plain.test')],
  ['two ports', get('http://plain.test:80:8080/', 'plain.test')],
  ['a tab in the address', get('http://plain.test\t.evil.test/', 'plain.test')],
  ['white space before the Host header', `GET http://plain.test/ HTTP/1.1\r\n Host: plain.test\r\n\r\n`],
  ['a Host header with a path', get('http://plain.test/', 'plain.test/evil.test')],
  ['a Host header with a list', get('http://plain.test/', 'plain.test, evil.test')],
  [
    'two different lengths',
    `POST http://plain.test/ HTTP/1.1\r\nHost: plain.test\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcde`,
  ],
  ['a length with a sign', `POST http://plain.test/ HTTP/1.1\r\nHost: plain.test\r\nContent-Length: +4\r\n\r\nabcd`],
  [
    'an unknown transfer coding',
    `POST http://plain.test/ HTTP/1.1\r\nHost: plain.test\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
  ],
  ['bare line feeds', 'GET http://evil.test/ HTTP/1.1\nHost: evil.test\n\n'],
  ['HTTP/0.9', 'GET http://evil.test/\r\n\r\n'],
  [
    'a server name in the smallest records',
    connectTo('good.test:443'),
    async () => fragmented(await helloFor('good.test'), 1),
  ],
  ['a name of another type', connectTo('good.test:443'), async () => helloWith([[0, `000c010009${hex('good.test')}`]])],
  ['an address as the server name', connectTo('good.test:443'), async () => helloWith([[0, serverName('127.0.0.2')]])],
  ['a server name of the canary in capitals', connectTo('good.test:443'), () => helloFor('EVIL.test')],
  ['a list of names longer than it says', connectTo('good.test:443'), async () => helloWith([[0, '0001000009']])],
  ...[
    ['a change of ciphers', [20, 3, 1, 0, 1, 1]],
    ['an alert', [21, 3, 1, 0, 2, 1, 0]],
    ['a heartbeat', [24, 3, 1, 0, 3, 1, 0, 0]],
    ['another handshake message', [22, 3, 1, 0, 4, 0, 0, 0, 0]],
    ['a record past the longest', [22, 3, 1, 0x41, 0, 1]],
  ].map(([what, bytes]): [string, string, () => Promise<Buffer>] => [
    `${String(what)} before the first message`,
    connectTo('good.test:443'),
    async () => Buffer.concat([Buffer.from(bytes as number[]), await helloFor('good.test')]),
  ]),
  [
    'the allowed name in a message of another kind',
    connectTo('good.test:443'),
    async () => changed(helloWith([[0, serverName('good.test')]]), 5, 2),
  ],
  [
    'the allowed name in a record of an older protocol',
    connectTo('good.test:443'),
    async () => changed(helloWith([[0, serverName('good.test')]]), 1, 2),
  ],
  [
    'an encrypted server name of an older draft',
    connectTo('good.test:443'),
    async () =>
      helloWith([
        [0, serverName('good.test')],
        [0xfe0a, '00'],
      ]),
  ],
  ['an empty port', get('http://plain.test:/', 'plain.test')],
  ['a port with a zero in front', get('http://plain.test:080/', 'plain.test')],
  ['a Host header with a trailing dot', get('http://plain.test/', 'plain.test.')],
  ['a Host header with user information', get('http://plain.test/', 'evil.test@plain.test')],
  ['an empty Host header', get('http://plain.test/', '')],
  ['this host', connectTo('0:80')],
  ['this host in full', get('http://0.0.0.0/', '0.0.0.0')],
  ['this host by IPv6', get('http://[::]/', '[::]')],
  ['loopback by IPv6 in full', connectTo('[0:0:0:0:0:0:0:1]:443')],
  ['a mapped address in hexadecimal', connectTo('[::ffff:7f00:1]:443')],
  ['an address with a trailing dot', connectTo('127.0.0.1.:443')],
  ['an address with a fifth part', connectTo('127.0.0.1.1:443')],
  ['an address in octal parts', connectTo('0177.0000.0000.0001:443')],
  ['a large number', connectTo('4294967297:443')],
  ['a wildcard as a name', connectTo('*.wild.test:443')],
  ['nothing below a wildcard', connectTo('.wild.test:443')],
  ['an empty label', connectTo('a..wild.test:443')],
  ['a label that is too long', connectTo(`${'a'.repeat(64)}.wild.test:443`)],
  ['a name that is too long', connectTo(`${'a.'.repeat(130)}wild.test:443`)],
  ['a hyphen in front', connectTo('-a.wild.test:443')],
  ['two targets', 'CONNECT good.test:443 evil.test:443 HTTP/1.1\r\nHost: good.test:443\r\n\r\n'],
  [
    'two Host headers of CONNECT',
    'CONNECT good.test:443 HTTP/1.1\r\nHost: good.test:443\r\nHost: evil.test:443\r\n\r\n',
  ],
  ['a Host header of CONNECT with another port', connectTo('good.test:443', 'good.test:80')],
  [
    'an upgrade to two protocols',
    get('http://plain.test/', 'plain.test', WEBSOCKET.replace('websocket', 'websocket, h2c')),
  ],
  ['a WebSocket to a private address', get('http://private.test/', 'private.test', WEBSOCKET)],
  [
    'a WebSocket inside a tunnel to another host',
    connectTo('plain.test:80'),
    async () => get('/', 'evil.test', WEBSOCKET),
  ],
  ['a WebSocket with chunks', get('http://plain.test/', 'plain.test', `${WEBSOCKET}Transfer-Encoding: chunked\r\n`)],
  ['a body in another coding', get('http://plain.test/', 'plain.test', 'Transfer-Encoding: gzip, chunked\r\n')],
  [
    'a coding in two headers',
    get('http://plain.test/', 'plain.test', 'Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n'),
  ],
  ['a bare carriage return', get('http://plain.test/', 'plain.test', 'X: a\rHost: evil.test\r\n')],
  ['a NUL in a header', get('http://plain.test/', 'plain.test', 'X: a\0b\r\n')],
  ['a request as a server’s answer', 'HTTP/1.1 200 OK\r\nHost: plain.test\r\n\r\n'],
];

it(`stops ${attempts.length} ways around the policy`, async () => {
  const wrong: string[] = [];
  const before = goodHits;
  await Promise.all(
    attempts.map(async ([what, bytes, then]) => {
      const answer = await gateway.say(Buffer.from(bytes, 'utf8'), await then?.());
      const refused =
        / (400|403|408|431|502) /.test(answer) || answer.includes('\x15\x03\x03\x00\x02\x02\x70') || answer === '';
      if (!refused || answer.includes('canary') || answer.includes('302 Found'))
        wrong.push(`${what}: ${answer.slice(0, 120)}`);
    }),
  );
  expect(wrong).toEqual([]);
  expect(canaryHits).toBe(0);
  expect(goodHits).toBe(before);
});

it('refuses a tunnel inside a tunnel, because each would use memory', async () => {
  const answer = await gateway.say(connectTo('plain.test:80'), connectTo('plain.test:80'), / 200 [\s\S]* (200|403) /);
  expect(answer).toContain('there is no tunnel inside a tunnel');
});

it('reports each refused host to the user once, by a clean name, with how to allow it', () => {
  const told = gateway.events.flatMap((event) => (event.kind === 'message' ? [event.text] : []));
  expect(told.filter((text) => text.includes('refused evil.test:443'))).toHaveLength(1);
  expect(told.join('\n')).toContain('run-claude network allow evil.test');
  expect(told.join('')).not.toMatch(/[^\x0a\x20-\x7e]/);
});

it('control: without each layer the same attempts succeed', async () => {
  const open = config as { rules: { host: string; from: string }[]; hosts: Record<string, string[]> };
  await using weak = await GatewayProcess.start({
    config: { ...config, rules: [...open.rules, { host: 'evil.test', from: 'test' }], allowAddresses: ['127.0.0.0/8'] },
  });
  for (const url of ['http://evil.test/', 'http://private.test/'])
    expect(await weak.say(get(url, new URL(url).host, 'connection: close\r\n'))).toContain('canary');
  expect(canaryHits).toBe(2);
});

it('can allow a host for a running session', async () => {
  const rules = (config as { rules: { host: string; from: string }[] }).rules;
  expect(await gateway.say(get('http://late.test/', 'late.test', 'connection: close\r\n'))).toContain(
    'not an allowed host',
  );
  gateway.kept.setRules([...rules, { host: 'late.test', from: 'network allow' }]);
  await expect
    .poll(() => gateway.say(get('http://late.test/', 'late.test', 'connection: close\r\n')))
    .not.toContain('not an allowed host');
});

import { rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo, Server, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { afterAll, describe, expect, it } from 'vitest';
import { createCa, createHostCertificate } from '../../../../../images/gateway/certificate.mjs';
import { methodAllowed, requestAllowed } from '../../../../../images/gateway/request-rules.mjs';
import type { BrokeredHost } from '../../../../../src/core/types/gateway.ts';
import type { AllowRule } from '../../../../../src/core/types/policy.ts';
import { checkBrokers } from '../../../../../src/network/gateway/rules/brokers.ts';
import { parseRequestRule } from '../../../../../src/network/gateway/rules/request-rules.ts';
import { GatewayProcess } from '../../../../support/gateway-process.ts';

describe('a rule for single requests', () => {
  const allowed = (rules: readonly string[], method: string, url: string): boolean =>
    requestAllowed(
      rules.map((text) => parseRequestRule(text, 'test')),
      method,
      url,
    );
  const READ = ['GET /repos/owner/name/**'];

  it.each([
    ['GET', '/repos/owner/name'],
    ['GET', '/repos/owner/name/'],
    ['HEAD', '/repos/owner/name/issues/1'],
    ['GET', '/repos/owner/name/contents/src/a.ts?ref=main&path=a%2Fb'],
    ['GET', '/repos/owner/name/@scope/a+b(1)~c'],
  ])('passes what it names: %s %s', (method, url) => {
    expect(allowed(READ, method, url)).toBe(true);
  });

  it.each([
    ['another method', 'POST', '/repos/owner/name/issues'],
    ['another name', 'GET', '/repos/owner/name2/issues'],
    ['the folder above', 'GET', '/repos/owner'],
    ['another letter case', 'GET', '/Repos/owner/name/x'],
    ['dots', 'GET', '/repos/owner/name/../other'],
    ['one dot', 'GET', '/repos/owner/name/./x'],
    ['encoded dots', 'GET', '/repos/owner/name/%2e%2e/other'],
    ['half encoded dots', 'GET', '/repos/owner/name/.%2E/other'],
    ['an encoded slash', 'GET', '/repos/owner/name/..%2fother'],
    ['an encoded letter', 'GET', '/repos/owner/name/%61'],
    ['an encoding that is none', 'GET', '/repos/owner/name/%u002e'],
    ['two slashes', 'GET', '/repos/owner/name//x'],
    ['two slashes before it', 'GET', '//repos/owner/name/x'],
    ['parameters of a segment', 'GET', '/repos/owner/name/..;/other'],
    ['parameters', 'GET', '/repos/owner/name;x=1/a'],
    ['a backslash', 'GET', '/repos/owner/name/..\\other'],
    ['a fragment', 'GET', '/repos/owner/name/x#/y'],
    ['the absolute form', 'GET', 'https://api.test/repos/owner/name/x'],
    ['the authority form', 'CONNECT', 'api.test:443'],
    ['an asterisk', 'OPTIONS', '*'],
    ['a byte beyond ASCII', 'GET', '/repos/owner/name/\u00e9'],
    ['a control character', 'GET', '/repos/owner/name/\u0001'],
    ['GraphQL', 'GET', '/repos/owner/name/graphql?query=x'],
    ['GraphQL in capitals', 'GET', '/repos/owner/name/GraphQL'],
    ['a batch', 'GET', '/repos/owner/name/$batch'],
    ['a path without end', 'GET', `/repos/owner/name/${'a/'.repeat(3000)}`],
    ['the first step of a push', 'GET', '/repos/owner/name/info/refs?service=git-receive-pack'],
    ['the same, encoded', 'GET', '/repos/owner/name/info/refs?service=git%2Dreceive-pack'],
    ['the second', 'POST', '/repos/owner/name/git-receive-pack'],
  ])('refuses %s', (_, method, url) => {
    expect(allowed(READ, method, url)).toBe(false);
  });

  it('passes what a wildcard does not stand for where the rule spells it', () => {
    expect(allowed(['POST /api/graphql'], 'POST', '/api/graphql')).toBe(true);
    expect(allowed(['GET /projects/group%2Fname/**'], 'GET', '/projects/group%2Fname/issues')).toBe(true);
    expect(allowed(['GET /projects/group%2Fname/**'], 'GET', '/projects/group%2fname/issues')).toBe(false);
    expect(allowed(['GET /v1/*/info', 'GET /pkg/tiny-*.tgz'], 'GET', '/v1/a/info')).toBe(true);
    expect(allowed(['GET /v1/*/info', 'GET /pkg/tiny-*.tgz'], 'GET', '/pkg/tiny-1.0.tgz')).toBe(true);
    expect(allowed(['GET /v1/*/info', 'GET /pkg/tiny-*.tgz'], 'GET', '/v1/a/b/info')).toBe(false);
  });

  it('takes the read of a repository for both of its steps, and a push only by its own rule', () => {
    const read = ['GET /o/r.git/**'];
    expect(allowed(read, 'GET', '/o/r.git/info/refs?service=git-upload-pack')).toBe(true);
    expect(allowed(read, 'POST', '/o/r.git/git-upload-pack')).toBe(true);
    expect(allowed(read, 'POST', '/o/other.git/git-upload-pack')).toBe(false);
    expect(allowed([...read, 'POST /o/r.git/**'], 'POST', '/o/r.git/git-receive-pack')).toBe(false);
    const push = [...read, 'POST /o/r.git/git-receive-pack'];
    const first = '/o/r.git/info/refs?service=git-receive-pack';
    for (const method of ['PUT', 'DELETE', 'POST', 'PATCH']) {
      expect(allowed(push, method, first), method).toBe(false);
      expect(allowed(['POST /repos/o/r/**'], method, '/repos/o/r/git/refs/heads/info/refs?receive'), method).toBe(
        false,
      );
      expect(methodAllowed(['GET', 'POST'], method, first), method).toBe(false);
    }
    expect(methodAllowed(['GET', 'POST'], 'DELETE', '/any/git-receive-pack')).toBe(false);
    expect(methodAllowed(['GET'], 'GET', '/o/r.git/info/refs?a=1?&service=git-receive-pack')).toBe(false);
    expect(allowed(read, 'GET', '/o/r.git/info/refs?a=1?&service=git-receive-pack')).toBe(false);
    expect(allowed(push, 'GET', `${first}&_method=DELETE`)).toBe(false);
    expect(allowed(push, 'GET', '/o/r.git/info/refs?service=git-receive-pack')).toBe(true);
    expect(allowed(push, 'POST', '/o/r.git/git-receive-pack')).toBe(true);
  });

  it('is METHOD /path', () => {
    const wrong = ['/repos', 'GET repos', 'get /x', 'TRACE /x', 'CONNECT /x', 'GET /a/**/b', 'GET /a b', 'GET /a?b=c'];
    for (const text of [...wrong, 'GET /a/../b', 'GET //a', 'GET /a/*x*', 'GET /a;b', 'GET /%zz', 'GET https://x/']) {
      expect(() => parseRequestRule(text, 'test'), text).toThrow('is not METHOD /path');
    }
  });

  it('is read before anything starts, for one host on its usual port', () => {
    const rule = { host: 'api.test', requests: ['GET /x'] };
    const check = (allowRequests: AllowRule[]) => () => checkBrokers({ brokers: [], allowRequests });
    expect(check([rule])).not.toThrow();
    for (const host of ['*.api.test', 'api.test:8443']) expect(check([{ ...rule, host }])).toThrow('one host');
    expect(check([{ ...rule, requests: ['GET x'] }])).toThrow('METHOD /path');
  });
});

const company = createCa(Date.now());
const SECRET = 'Bearer for-one-repository-77aa';
const OTHER = 'Bearer for-another-12bc';
const servers: Server[] = [];

async function listen(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, '127.0.0.2', done));
  return (server.address() as AddressInfo).port;
}

afterAll(() => {
  for (const server of servers) server.close();
});

const tlsServer = (answer: (socket: Socket) => void, more: TlsOptions = {}): Promise<number> =>
  listen(createTlsServer({ ...createHostCertificate(company, 'api.test', Date.now()), ...more }, answer));

/** The real gateway program before these hosts: their names and ports. */
async function gatewayBefore(
  ports: Readonly<Record<string, number>>,
  brokers: readonly BrokeredHost[],
): Promise<GatewayProcess> {
  const bundle = path.join(tmpdir(), `run-claude-requests-${process.pid}`);
  writeFileSync(bundle, '');
  const gateway = await GatewayProcess.start({
    config: {
      caBundle: bundle,
      extraCa: company.certificate,
      allowAddresses: ['127.0.0.2/32'],
      rules: Object.keys(ports).map((host) => ({ host, from: 'test' })),
      brokers,
      hosts: Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, [`127.0.0.2@${port}`]])),
      limits: { connections: 64, bytesPerConnection: 1 << 20, headMs: 5000, connectMs: 1500, idleMs: 60_000 },
    },
  });
  rmSync(bundle);
  return gateway;
}

const requests = (...texts: readonly string[]) => ({ requests: texts.map((text) => parseRequestRule(text, 'test')) });
const get = (url: string, more = ''): string => `GET ${url} HTTP/1.1\r\nHost: api.test\r\n${more}\r\n`;

it('gives each request the secret of the rule that names it, and lets nothing past by another port, cookie or upgrade', async () => {
  const arrived: string[] = [];
  const answer = 'HTTP/1.1 302 Found\r\nlocation: /user\r\nset-cookie: a=b\r\ncontent-length: 4\r\n\r\nhere';
  const port = await tlsServer((socket) => {
    socket
      .on('error', () => undefined)
      .on('data', (chunk) => {
        arrived.push(chunk.toString('latin1'));
        socket.end(answer);
      });
  });
  await using gateway = await gatewayBefore({ 'api.test': port }, [
    { host: 'api.test', passes: requests('GET /public/**') },
    {
      host: 'api.test',
      passes: requests('GET /repos/o/r/**', 'POST /repos/o/r/issues'),
      secret: { header: 'Authorization', value: SECRET },
    },
    { host: 'api.test', passes: requests('GET /repos/o/other/**'), secret: { header: 'X-Token', value: OTHER } },
  ]);
  const mine = 'Authorization: Bearer mine\r\nX-Token: mine\r\nCookie: session=1\r\n';
  for (const text of [
    get('/repos/o/r/pulls?per_page=5', mine),
    get('/repos/o/other/pulls', mine),
    get('/public/x', mine),
    `POST /repos/o/r/issues HTTP/1.1\r\nHost: api.test\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`,
  ])
    expect(await gateway.sayInside('api.test', text)).toMatch(/^(?![\s\S]*set-cookie)[\s\S]*here/i);
  const lines = (name: string): string[][] => arrived.map((one) => one.match(new RegExp(`^${name}: .*$`, 'gim')) ?? []);
  expect(lines('authorization')).toEqual([[`Authorization: ${SECRET}`], [], [], [`Authorization: ${SECRET}`]]);
  expect(lines('x-token')).toEqual([[], [`X-Token: ${OTHER}`], [], []]);
  expect(lines('cookie').flat()).toEqual([]);

  const passed = arrived.length;
  const refused = [
    // Where the answer's redirect leads.
    get('/user'),
    get('/repos/o/r/../../../user'),
    get('/repos/o/r/%2e%2e/%2e%2e/%2e%2e/user'),
    get('/repos/o/third/x'),
    `DELETE /repos/o/r/issues HTTP/1.1\r\nHost: api.test\r\n\r\n`,
    `POST /graphql HTTP/1.1\r\nHost: api.test\r\nContent-Length: 2\r\n\r\n{}`,
    get('/repos/o/r/ws', 'Connection: Upgrade\r\nUpgrade: websocket\r\n'),
    get('/repos/o/r/h2', 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMA\r\n'),
  ];
  for (const text of refused) expect(await gateway.sayInside('api.test', text)).toContain(' 403 ');
  const plain = await gateway.say('GET http://api.test/user HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n\r\n');
  expect(plain).toMatch(/ 403 [\s\S]*port 80 of api\.test is not allowed/);
  expect(await gateway.say('CONNECT api.test:80 HTTP/1.1\r\nHost: api.test:80\r\n\r\n')).toContain(' 403 ');
  expect(arrived).toHaveLength(passed);
  // What a redirect leads to gets no secret by itself: the client asks again, and is judged again.
  const seen = JSON.stringify([gateway.entries(), gateway.events]);
  for (const word of ['77aa', '12bc']) expect(seen).not.toContain(word);
  expect(seen).toContain('GET /user is not among the requests to api.test that are allowed');
});

it.each<[string, (socket: Socket) => void, TlsOptions, RegExp]>([
  [
    'speaks an old TLS',
    (socket) => void socket.end(),
    { maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'ALL@SECLEVEL=0' },
    / 502 /,
  ],
  [
    'has a certificate for another name',
    (socket) => void socket.end(),
    createHostCertificate(company, 'other.test', Date.now()),
    / 502 [\s\S]*(altnames|name)/i,
  ],
  [
    'has a certificate of a stranger',
    (socket) => void socket.end(),
    createHostCertificate(createCa(Date.now()), 'api.test', Date.now()),
    / 502 /,
  ],
  ['ends without an answer', (socket) => void socket.end(), {}, / 502 /],
  ['does not speak HTTP', (socket) => void socket.end('SSH-2.0-server\r\n'), {}, / 502 /],
  [
    'has headers without end',
    (socket) => endless(socket, 'HTTP/1.1 200 OK\r\n', `X-A: ${'a'.repeat(1000)}\r\n`),
    {},
    / 502 /,
  ],
  [
    'says two lengths',
    (socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 4\r\ncontent-length: 5\r\n\r\nhere!'),
    {},
    / 502 /,
  ],
  ['sends bytes without end', (socket) => endless(socket, 'HTTP/1.1 200 OK\r\n\r\n', 'b'.repeat(1 << 16)), {}, / 200 /],
  [
    'sends a second answer that nobody asked for',
    (socket) =>
      void socket.end(
        'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nsecond',
      ),
    {},
    / 200 [\s\S]*ok(?!H)/,
  ],
])('a server that %s gets one answer for the agent, and the gateway goes on', async (_, answer, more, expected) => {
  const port = await tlsServer((socket) => {
    socket.on('error', () => undefined).once('data', () => answer(socket));
  }, more);
  const goodPort = await tlsServer(
    (socket) => {
      socket
        .on('error', () => undefined)
        .once('data', () => {
          socket.end('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nhere');
        });
    },
    createHostCertificate(company, 'good.test', Date.now()),
  );
  const rule = { passes: requests('GET /x'), secret: { header: 'Authorization', value: SECRET } };
  await using gateway = await gatewayBefore({ 'api.test': port, 'good.test': goodPort }, [
    { host: 'api.test', ...rule },
    { host: 'good.test', ...rule },
  ]);
  const said = await gateway.sayInside('api.test', get('/x'));
  expect(said).toMatch(expected);
  expect(said).not.toMatch(/second|77aa/);
  expect(said.length).toBeLessThan(3 << 20);
  expect(await gateway.sayInside('good.test', get('/x').replace('api.test', 'good.test'))).toContain('here');
});

/** Writes until the other side has had enough. */
function endless(socket: Socket, head: string, more: string): void {
  socket.write(head);
  const go = (): void => {
    while (!socket.destroyed && socket.write(more));
  };
  socket.on('drain', go);
  go();
}

import { rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createCa, createHostCertificate } from '../../../../images/gateway/certificate.mjs';
import { findUpstreams } from '../../../../src/network/gateway/upstream.ts';
import { fixedCredential, GatewayProcess } from '../../../support/gateway-process.ts';
import { type StandIn, startMessagesApi } from '../../../support/stand-in/messages-api.mjs';

// The host's own HTTPS proxy, a company's CA, and hosts whose TLS ends in the gateway: real TLS servers on loopback,
// with certificates made here. The servers keep the very bytes that reached them.

const company = createCa(Date.now());
const stranger = createCa(Date.now());
const SECRET = 'Bearer brokered-secret-5e1f';
const servers: Server[] = [];
const proxied: { authority: string; login: string | undefined }[] = [];
/** What passed the proxy on its way out. */
let wire = '';
const arrived: Record<string, string[]> = {
  'secret.test': [],
  'wrong.test': [],
  'open.test': [],
  'ended.test': [],
  'early.test': [],
  'plain.test': [],
};
const ports: Record<string, number> = {};
let proxyPort = 0;
let provider: StandIn;

async function listen(server: Server, host: string): Promise<number> {
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, host, done));
  return (server.address() as AddressInfo).port;
}

/** Whether the body is there, as the head says how long it is. */
function isWhole(bytes: string): boolean {
  const [head = '', ...rest] = bytes.split('\r\n\r\n');
  const body = rest.join('\r\n\r\n');
  if (/^transfer-encoding: chunked/im.test(head)) return body.endsWith('0\r\n\r\n');
  return rest.length > 0 && body.length >= Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
}

/** Keeps the bytes of one connection and answers once they are whole and have been quiet for a while. */
function keep(name: string): (socket: Socket) => void {
  return (socket) => {
    let bytes = '';
    let timer: NodeJS.Timeout | undefined;
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      bytes += chunk.toString('latin1');
      clearTimeout(timer);
      timer = setTimeout(() => {
        if (!isWhole(bytes)) return;
        arrived[name]?.push(bytes);
        socket.end('HTTP/1.1 200 OK\r\ncontent-length: 4\r\nconnection: close\r\n\r\nhere');
      }, 300);
    });
  };
}

beforeAll(async () => {
  for (const [name, ca, days] of [
    ['secret.test', company, 0],
    ['wrong.test', stranger, 0],
    ['open.test', company, 0],
    // Good by another clock only: 30 days from two days before it.
    ['ended.test', company, -31],
    ['early.test', company, 3],
  ] as const) {
    const certificate = createHostCertificate(ca, name, Date.now() + days * 86_400_000);
    ports[name] = await listen(createTlsServer(certificate, keep(name)), '127.0.0.2');
  }
  ports['plain.test'] = await listen(createServer(keep('plain.test')), '127.0.0.2');
  provider = await startMessagesApi({ turns: [], tls: createHostCertificate(company, 'provider.test', Date.now()) });
  const proxy = createHttpServer();
  proxy.on('connect', (asked: IncomingMessage, client: Socket, head: Buffer) => {
    const authority = asked.url ?? '';
    proxied.push({ authority, login: asked.headers['proxy-authorization'] });
    const port = authority === 'provider.test:443' ? provider.port : ports[authority.split(':')[0] ?? ''];
    client.on('error', () => undefined);
    if (authority.startsWith('closed.test') || port === undefined) {
      client.end('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n');
      return;
    }
    const out = connect({ host: authority === 'provider.test:443' ? '127.0.0.1' : '127.0.0.2', port });
    out.on('error', () => client.destroy());
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    if (head.length > 0) out.write(head);
    client.on('data', (chunk) => {
      wire += chunk.toString('latin1');
    });
    client.pipe(out);
    out.pipe(client);
  });
  proxyPort = await listen(proxy, '127.0.0.1');
});

afterAll(async () => {
  await provider.close();
  for (const server of servers) server.close();
});

const ask = (gateway: GatewayProcess): Promise<{ status: number; body: string }> =>
  new Promise((done, failed) => {
    const socketPath = path.join(gateway.dir, 'api.sock');
    const out = request({ socketPath, method: 'POST', path: '/v1/messages' }, (answer) => {
      let body = '';
      answer.on('data', (chunk) => {
        body += chunk;
      });
      answer.on('end', () => done({ status: answer.statusCode ?? 0, body }));
    });
    out.on('error', failed);
    out.end(JSON.stringify({ model: 'claude-opus-5', stream: true, tools: [{ name: 'Bash' }] }));
  });

it("reads the host's proxy, its login and its exceptions, and recognises addresses that only this machine reaches", async () => {
  const found = await findUpstreams({
    HTTPS_PROXY: 'http://user:p%40ss@127.0.0.1:3128',
    NO_PROXY: 'localhost, .Corp.test,*.lan,db.test:8443,10.0.0.0/8',
    ANTHROPIC_BASE_URL: 'http://[::1]:8080',
  });
  expect(found.proxy).toMatchObject({ relay: true, except: ['localhost', 'corp.test', 'lan', 'db.test@8443'] });
  expect(found.provider.relay).toBe(true);
  expect(found.targets).toEqual({
    provider: { host: '::1', port: 8080 },
    proxy: { host: '127.0.0.1', port: 3128 },
  });
  const far = await findUpstreams({
    https_proxy: 'http://203.0.113.9:3128',
    ANTHROPIC_BASE_URL: 'https://203.0.113.7',
  });
  expect([far.proxy?.relay, far.provider.relay, far.targets]).toEqual([false, false, {}]);
  await expect(findUpstreams({ HTTPS_PROXY: 'https://203.0.113.9' })).rejects.toThrow('over TLS is not supported');
  await expect(findUpstreams({ HTTPS_PROXY: 'socks5://203.0.113.9' })).rejects.toThrow('HTTPS_PROXY');
  await expect(findUpstreams({ NODE_EXTRA_CA_CERTS: path.join(tmpdir(), 'not', 'there.pem') })).rejects.toThrow(
    'cannot read',
  );
});

it("connects through the host's proxy: to the provider under the company's CA and to the agent's hosts, not to private addresses", async () => {
  const config = {
    provider: { url: 'https://provider.test', relay: false },
    proxy: {
      url: `http://user:p%40ss@127.0.0.1:${proxyPort}`,
      relay: true,
      except: ['plain.test', 'secret.test@8443'],
    },
    extraCa: company.certificate,
    allowAddresses: ['203.0.113.0/24', '127.0.0.2/32'],
    rules: ['secret.test', 'plain.test', 'private.test', 'closed.test'].map((host) => ({ host, from: 'test' })),
    hosts: {
      'provider.test': ['203.0.113.7'],
      'secret.test': ['203.0.113.8'],
      'closed.test': ['203.0.113.8'],
      'private.test': ['10.0.0.1'],
      'plain.test': [`127.0.0.2@${ports['plain.test']}`],
    },
  };
  const credential = fixedCredential('real-login');
  const targets = { proxy: { host: '127.0.0.1', port: proxyPort } };
  {
    await using gateway = await GatewayProcess.start({ config, targets, credential });
    expect((await ask(gateway)).status).toBe(200);
    expect(provider.requests.at(-1)?.headers['authorization']).toBe('Bearer real-login');
    const login = `Basic ${Buffer.from('user:p@ss').toString('base64')}`;
    expect(proxied.at(-1)).toEqual({ authority: 'provider.test:443', login });
    // The proxy carries TLS and sees no credential.
    expect(wire).toContain('provider.test');
    expect(wire).not.toContain('real-login');

    const get = 'GET / HTTP/1.1\r\nHost: secret.test\r\nConnection: close\r\n\r\n';
    expect(await gateway.sayInside('secret.test', get, company.certificate)).toContain('here');
    expect(proxied.at(-1)?.authority).toBe('secret.test:443');
    const before = proxied.length;
    expect(await gateway.sayInside('private.test', get)).toContain('resolves to 10.0.0.1');
    expect(
      await gateway.say('GET http://plain.test/ HTTP/1.1\r\nHost: plain.test\r\n\r\n', undefined, /here/),
    ).toContain('here');
    expect(proxied).toHaveLength(before);
    expect(await gateway.sayInside('closed.test', get)).toMatch(/ 502 [\s\S]*the HTTPS proxy answered 407/);
  }
  await using strict = await GatewayProcess.start({ config: { ...config, extraCa: '' }, targets, credential });
  const seen = provider.requests.length;
  expect(await ask(strict)).toMatchObject({ status: 502, body: expect.stringMatching(/certificate/) });
  expect(provider.requests.length).toBe(seen);
});

const UNREAD = 'Content-Type: application/octet-stream\r\n';

it('does not wait for a TLS handshake that never comes, on either side of a brokered host', async () => {
  const mute = await listen(
    createServer((socket) => void socket.on('error', () => undefined)),
    '127.0.0.2',
  );
  const bundle = path.join(tmpdir(), `run-claude-mute-${process.pid}`);
  writeFileSync(bundle, '');
  const impatient = (limit: 'headMs' | 'connectMs'): Promise<GatewayProcess> => {
    const limits = {
      connections: 512,
      bytesPerConnection: 1 << 30,
      headMs: 15_000,
      connectMs: 15_000,
      idleMs: 600_000,
    };
    return GatewayProcess.start({
      config: {
        caBundle: bundle,
        allowAddresses: ['127.0.0.2/32'],
        rules: [{ host: 'mute.test', from: 'test' }],
        brokers: [
          { host: 'mute.test', secret: { header: 'Authorization', value: SECRET }, passes: { methods: ['GET'] } },
        ],
        hosts: { 'mute.test': [`127.0.0.2@${mute}`] },
        limits: { ...limits, [limit]: 700 },
      },
    });
  };
  await using towardsHost = await impatient('connectMs');
  await using towardsAgent = await impatient('headMs');
  rmSync(bundle);
  const get = 'GET / HTTP/1.1\r\nHost: mute.test\r\n\r\n';
  expect(await towardsHost.sayInside('mute.test', get)).toMatch(/ 502 [\s\S]*no TLS handshake in 0.7 s/);
  const silent = connect(path.join(towardsAgent.dir, 'proxy.sock'));
  silent.write('CONNECT mute.test:443 HTTP/1.1\r\nHost: mute.test:443\r\n\r\n');
  silent.resume();
  await new Promise((done) => silent.once('close', done));
});

it('terminates TLS only for brokered hosts, checks each request, and sends the secret only to the verified server', async () => {
  const rule = { secret: { header: 'Authorization', value: SECRET }, passes: { methods: ['GET'] } };
  const bundle = path.join(tmpdir(), `run-claude-bundle-${process.pid}`);
  writeFileSync(bundle, '');
  await using gateway = await GatewayProcess.start({
    config: {
      caBundle: bundle,
      extraCa: company.certificate,
      allowAddresses: ['127.0.0.2/32'],
      rules: Object.keys(arrived).map((host) => ({ host, from: 'test' })),
      brokers: ['secret.test', 'wrong.test', 'ended.test', 'early.test'].map((host) => ({ host, ...rule })),
      hosts: Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, [`127.0.0.2@${port}`]])),
    },
  });
  rmSync(bundle);
  const http = (line: string, more = '', body = ''): string =>
    `${line} HTTP/1.1\r\nHost: secret.test\r\n${more}\r\n${body}`;
  arrived['secret.test'] = [];
  const passes: [string, string][] = [
    [
      'read',
      http('GET /repos', 'Authorization: Bearer mine\r\nauthorization: basic x\r\nX-HTTP-Method-Override: POST\r\n'),
    ],
    [
      'fetch',
      http(
        'POST /o/r.git/git-upload-pack',
        'Content-Type: application/x-git-upload-pack-request\r\nContent-Length: 4\r\n',
        '0000',
      ),
    ],
    [
      'chunked read',
      http(
        'GET /one',
        `${UNREAD}Transfer-Encoding: chunked\r\n`,
        '1c\r\nPOST /two HTTP/1.1\r\nA: b\r\n\r\n\r\n0\r\n\r\n',
      ),
    ],
    [
      'read with a body',
      http(
        'GET /three',
        `Connection: host, content-length, content-type, authorization, x-mine\r\nX-Mine: y\r\n${UNREAD}Content-Length: 22\r\n`,
        'POST /four HTTP/1.1\r\n\r\n',
      ),
    ],
    ['names with underscores', http('GET /five', 'Transfer_Encoding: chunked\r\nX_Rewrite_Url: /six\r\n')],
  ];
  for (const [what, text] of passes)
    expect([what, await gateway.sayInside('secret.test', text)]).toEqual([what, expect.stringContaining('here')]);
  const bytes = arrived['secret.test'] ?? [];
  expect(bytes).toHaveLength(passes.length);
  for (const one of bytes) {
    expect(one.match(/authorization: [^\r]*/gi)).toEqual([`Authorization: ${SECRET}`]);
    expect(one.match(/^host: .*$/gim)).toEqual(['Host: secret.test']);
  }
  expect(bytes.join('')).not.toMatch(/override|_/i);
  // What the Connection header names is dropped, but not what frames the message.
  expect(bytes[3]).toMatch(/content-type: application\/octet-stream\r\n/i);
  expect(bytes[3]).toMatch(/content-length: 22\r\n[\s\S]*\r\n\r\nPOST/i);
  expect(bytes[3]).not.toMatch(/x-mine|keep-alive/i);
  // A body of a method that has none is framed, not sent bare to be read as another request.
  expect(bytes[2]).toMatch(/transfer-encoding: chunked[\s\S]*\r\n\r\n1c\r\nPOST \/two/i);

  const refused = [
    http('POST /repos', 'Content-Length: 2\r\n', '{}'),
    http('DELETE /repos/o/r'),
    http('GET /o/r.git/info/refs?service=git-receive-pack'),
    http('POST /o/r.git/git-receive-pack', 'Content-Length: 0\r\n'),
    ...[
      '/user/repos#/git-upload-pack',
      '/user/repos?/git-upload-pack',
      '/a/../git-upload-pack',
      '/a;b/git-upload-pack',
    ].map((target) => http(`POST ${target}`, 'Content-Length: 0\r\n')),
    ...[
      '/a%2fb/git-upload-pack',
      '/a\\git-upload-pack',
      '//x/git-upload-pack',
      'https://other.test/o/git-upload-pack',
    ].map((target) => http(`POST ${target}`, 'Content-Length: 0\r\n')),
    http('GET https://other.test/repos'),
    http('GET /repos', 'Host: other.test\r\n'),
    'GET /repos HTTP/1.1\r\nHost: other.test\r\n\r\n',
    'GET /repos HTTP/1.1\r\nHost: secret.test:8443\r\n\r\n',
    http('CONNECT other.test:443'),
    http('POST /o/r.git/git-upload-pack', 'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'),
  ];
  const wrong: string[] = [];
  for (const text of refused) {
    const answer = await gateway.sayInside('secret.test', text);
    if (answer.includes('here') || !/ (400|403) |^$/.test(answer))
      wrong.push(`${text.slice(0, 60)}: ${answer.slice(0, 80)}`);
  }
  expect(wrong).toEqual([]);
  expect(arrived['secret.test']).toHaveLength(passes.length);

  for (const [name, why] of [
    ['wrong.test', /./],
    ['ended.test', /certificate has expired/],
    ['early.test', /certificate is not yet valid/],
  ] as const) {
    const answer = await gateway.sayInside(name, http('GET /').replace('secret.test', name));
    expect([name, answer]).toEqual([name, expect.stringMatching(/ 502 /)]);
    expect(answer).toMatch(why);
    expect(arrived[name]).toEqual([]);
  }
  // A host that is only allowed shows its own certificate, and gets the sent bytes and no more.
  expect(
    await gateway.sayInside('open.test', 'GET /as-it-is HTTP/1.1\r\nHost: x\r\n\r\n', company.certificate),
  ).toContain('here');
  expect(arrived['open.test']).toEqual(['GET /as-it-is HTTP/1.1\r\nHost: x\r\n\r\n']);
  // Of a flood on one connection no more is read than can be kept.
  const before = arrived['secret.test']?.length ?? 0;
  await gateway.sayInside('secret.test', http('GET /flood').repeat(1500));
  await expect.poll(() => gateway.entries().filter(({ kind }) => kind === 'broker').length).toBeGreaterThan(250);
  expect((arrived['secret.test']?.length ?? 0) - before).toBeLessThanOrEqual(256);
  // Only the session's own CA vouches for the name that is shown.
  expect(await gateway.sayInside('secret.test', http('GET /'), company.certificate)).toMatch(/certificate|issuer/);
  // The same framing for plain HTTP.
  const chunked =
    'GET http://plain.test/ HTTP/1.1\r\nHost: plain.test\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nGET\r\n0\r\n\r\n';
  arrived['plain.test'] = [];
  expect(await gateway.say(chunked, undefined, /here/)).toContain('here');
  expect(arrived['plain.test']?.[0]).toMatch(/transfer-encoding: chunked[\s\S]*\r\n\r\n3\r\nGET\r\n/i);
  expect(JSON.stringify([gateway.entries(), gateway.events])).not.toContain('brokered-secret');
});

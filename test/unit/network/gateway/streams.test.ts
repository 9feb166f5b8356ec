import { createHash, randomBytes, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { connect as connectHttp2, createSecureServer } from 'node:http2';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import path from 'node:path';
import { connect as tlsConnect } from 'node:tls';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createCa, createHostCertificate } from '../../../../images/gateway/certificate.mjs';
import { GatewayProcess, type GatewayProcessOptions } from '../../../support/gateway-process.ts';

// What flows through the proxy once it is allowed: other protocols in the tunnel, ends one way at a time, slow readers,
// many at once, limits, and what is left after something ran out.

const ca = createCa(Date.now());
const big = randomBytes(24 * 1024 * 1024);
const servers: (Server | ReturnType<typeof createSecureServer>)[] = [];
const ports: Record<string, number> = {};
const hosts = (): Record<string, string[]> =>
  Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, [`127.0.0.2@${port}`]]));
/** What the plain server received before the client's end, by connection. */
const ended: string[] = [];

async function listen(name: string, server: Server | ReturnType<typeof createSecureServer>): Promise<void> {
  servers.push(server);
  await new Promise<void>((done) => void server.listen(0, '127.0.0.2', done));
  ports[name] = (server.address() as AddressInfo).port;
}

beforeAll(async () => {
  // Answers after the client's end only, and the other way round for 'first'.
  await listen(
    'plain.test',
    createServer({ allowHalfOpen: true }, (socket) => {
      let text = '';
      socket.on('error', () => undefined);
      socket.on('data', (chunk) => {
        text += chunk.toString('latin1');
        if (text === 'first') socket.end('the server ends first');
        if (text === 'big') socket.end(big);
      });
      socket.on('end', () => {
        ended.push(text);
        if (!text.startsWith('first') && text !== 'big') socket.end(`${text.length} bytes to the end`);
      });
    }),
  );
  const http2 = createSecureServer(createHostCertificate(ca, 'h2.test', Date.now()));
  http2.on('stream', (stream) => {
    stream.respond({ ':status': 200 });
    stream.end('over HTTP/2');
  });
  await listen('h2.test', http2);
  const web = createHttpServer((request, response) => {
    if (request.url !== '/never') setTimeout(() => response.end('late'), 300);
  });
  web.on('upgrade', (request, socket: Socket) => {
    const accept = createHash('sha1').update(
      `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`,
    );
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept.digest('base64')}\r\n\r\n`,
    );
    socket.pipe(socket);
  });
  await listen('web.test', web);
});

afterAll(() => {
  for (const server of servers) server.close();
});

function start(
  more: Omit<Partial<GatewayProcessOptions>, 'config'> & { limits?: object } = {},
): Promise<GatewayProcess> {
  const { limits, ...options } = more;
  const defaults = { connections: 512, bytesPerConnection: 1 << 30, headMs: 60_000, connectMs: 60_000, idleMs: 60_000 };
  return GatewayProcess.start({
    ...options,
    config: {
      rules: [
        { host: 'plain.test', port: 9000, from: 'test' },
        { host: 'gone.test', port: 9000, from: 'test' },
        ...['h2.test', 'web.test', 'no-such-name.invalid'].map((host) => ({ host, from: 'test' })),
      ],
      allowAddresses: ['127.0.0.2/32'],
      hosts: { ...hosts(), 'gone.test': ['127.0.0.2@1'] },
      limits: { ...defaults, ...limits },
    },
  });
}

/** A tunnel through the proxy, or the proxy's refusal. */
async function tunnel(gateway: GatewayProcess, authority: string): Promise<Socket> {
  const socket = connect({ path: path.join(gateway.dir, 'proxy.sock'), allowHalfOpen: true });
  socket.on('error', () => undefined);
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`);
  const [head] = await Promise.race([once(socket, 'data'), once(socket, 'close').then(() => [Buffer.from('closed')])]);
  if (!String(head).includes(' 200 ')) {
    socket.destroy();
    throw new Error(String(head));
  }
  return socket;
}

async function rest(socket: Socket): Promise<Buffer> {
  const parts: Buffer[] = [];
  socket.on('data', (part: Buffer) => parts.push(part));
  await Promise.race([once(socket, 'end'), once(socket, 'close')]);
  return Buffer.concat(parts);
}

it('HTTP/2 over CONNECT, and an echoing WebSocket over plain HTTP', async () => {
  await using gateway = await start();
  const through = await tunnel(gateway, 'h2.test:443');
  const secure = tlsConnect({ socket: through, servername: 'h2.test', ca: ca.certificate, ALPNProtocols: ['h2'] });
  const session = connectHttp2('https://h2.test', { createConnection: () => secure });
  const stream = session.request({ ':path': '/' });
  let text = '';
  for await (const part of stream) text += part;
  expect(text).toBe('over HTTP/2');
  session.destroy();

  const web = connect(path.join(gateway.dir, 'proxy.sock'));
  const key = randomBytes(16).toString('base64');
  web.write(
    `GET http://web.test/ws HTTP/1.1\r\nHost: web.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: ${key}\r\nSec-WebSocket-Version: 13\r\n\r\n`,
  );
  const [head] = await once(web, 'data');
  expect(String(head)).toMatch(/^HTTP\/1\.1 101 [\s\S]*sec-websocket-accept/i);
  const frame = Buffer.concat([Buffer.of(0x82, 0x84), randomBytes(8)]);
  web.write(frame);
  const [echo] = await once(web, 'data');
  expect(echo).toEqual(frame);
  web.destroy();
});

it('a half-closed stream continues in the other direction', async () => {
  await using gateway = await start();
  const asks = await tunnel(gateway, 'plain.test:9000');
  asks.end('x'.repeat(300_000));
  expect(String(await rest(asks))).toBe('300000 bytes to the end');
  const tells = await tunnel(gateway, 'plain.test:9000');
  tells.write('first');
  expect(String(await rest(tells))).toBe('the server ends first');
  tells.end(' and the client goes on');
  await expect.poll(() => ended).toContain('first and the client goes on');
});

it('every byte arrives at a slow reader, and the server waits for the reader', async () => {
  await using gateway = await start();
  const slow = await tunnel(gateway, 'plain.test:9000');
  slow.write('big');
  const hash = createHash('sha256');
  let size = 0;
  slow.on('data', (part: Buffer) => {
    hash.update(part);
    size += part.length;
    slow.pause();
    setTimeout(() => slow.resume(), size < 2_000_000 ? 20 : 0);
  });
  await once(slow, 'end');
  expect([size, hash.digest('hex')]).toEqual([big.length, createHash('sha256').update(big).digest('hex')]);
});

it('two hundred connections at once; more are refused, and accepted once others have ended', async () => {
  await using gateway = await start({ limits: { connections: 210 } });
  const get = (): Promise<string> =>
    gateway.say('GET http://web.test/ HTTP/1.1\r\nHost: web.test\r\nConnection: close\r\n\r\n');
  const answers = await Promise.all(Array.from({ length: 200 }, get));
  expect(answers.filter((text) => text.endsWith('late') || text.includes('late')).length).toBe(200);
  const held = await Promise.all(Array.from({ length: 210 }, () => tunnel(gateway, 'plain.test:9000')));
  expect(await get()).toBe('');
  for (const socket of held) socket.destroy();
  await expect.poll(get).toContain('late');
  expect(gateway.pids).toHaveLength(1);
});

it('cuts a connection at its limits of bytes and of silence, and says which in the log', async () => {
  const whys = (gateway: GatewayProcess): string[] => gateway.entries().flatMap(({ why }) => why ?? []);
  await using gateway = await start({ limits: { bytesPerConnection: 1_000_000 } });
  const long = await tunnel(gateway, 'plain.test:9000');
  long.write('big');
  expect((await rest(long)).length).toBeLessThan(3_000_000);
  await expect.poll(() => whys(gateway)).toEqual(['too many bytes received']);
  const sent = `POST http://web.test/never HTTP/1.1\r\nHost: web.test\r\nContent-Length: 3000000\r\n\r\n${'x'.repeat(3_000_000)}`;
  expect(await gateway.say(sent)).toMatch(/^$| 502 [\s\S]*too many bytes sent/);
  const talks = await tunnel(gateway, 'plain.test:9000');
  talks.write('x'.repeat(3_000_000));
  await rest(talks).catch(() => undefined);
  await expect.poll(() => whys(gateway).filter((why) => why === 'too many bytes sent').length).toBe(2);

  await using patient = await start({ limits: { idleMs: 300 } });
  const silent = await tunnel(patient, 'plain.test:9000');
  silent.write('x');
  expect(await rest(silent)).toHaveLength(0);
  await expect.poll(() => whys(patient)).toEqual(['idle for too long']);
  // A server that takes a request and never answers.
  const waits = connect(path.join(patient.dir, 'proxy.sock'));
  waits.on('error', () => undefined).resume();
  waits.write('GET http://web.test/never HTTP/1.1\r\nHost: web.test\r\n\r\n');
  await expect.poll(() => waits.closed).toBe(true);
});

it('no free descriptors, no server or no such name: an ordinary error, and later requests succeed', async () => {
  await using gateway = await start({ descriptors: 64 });
  const held = await Promise.all(
    Array.from({ length: 100 }, () => tunnel(gateway, 'plain.test:9000').catch((error: Error) => error)),
  );
  const open = held.flatMap((one) => (one instanceof Error ? [] : [one]));
  expect(open.length).toBeLessThan(64);
  for (const one of held) if (one instanceof Error) expect(one.message).toMatch(/ 502 |^closed$|ECONNRESET/);
  for (const socket of open) socket.destroy();
  const again = async (): Promise<string> => {
    const socket = await tunnel(gateway, 'plain.test:9000').catch(() => undefined);
    socket?.end('x');
    return socket === undefined ? '' : String(await rest(socket));
  };
  await expect.poll(again).toBe('1 bytes to the end');
  await expect(tunnel(gateway, 'gone.test:9000')).rejects.toThrow(/ 502 [\s\S]*ECONNREFUSED/);
  await expect(tunnel(gateway, 'no-such-name.invalid:443')).rejects.toThrow(/ 502 [\s\S]*no-such-name\.invalid/);
  expect(await again()).toBe('1 bytes to the end');
  expect(gateway.pids).toHaveLength(1);
});

it('creates certificates that are valid where clocks differ by a day, with a unique name for each CA', () => {
  const now = Date.now();
  const day = 24 * 3_600_000;
  const other = createCa(now);
  for (const text of [ca.certificate, createHostCertificate(ca, 'h2.test', now).cert]) {
    const { validFrom, validTo } = new X509Certificate(text);
    expect(Date.parse(validFrom)).toBeLessThan(now - day);
    expect(Date.parse(validTo)).toBeGreaterThan(now + 7 * day);
  }
  const leaf = new X509Certificate(createHostCertificate(ca, 'h2.test', now).cert);
  expect(leaf.checkIssued(new X509Certificate(ca.certificate))).toBe(true);
  expect(leaf.checkIssued(new X509Certificate(other.certificate))).toBe(false);
});

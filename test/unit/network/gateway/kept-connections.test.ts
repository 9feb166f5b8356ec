import { createServer, type IncomingMessage, type RequestListener, request, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createCa, createHostCertificate } from '../../../../images/gateway/certificate.mjs';
import { fixedCredential, GatewayProcess } from '../../../support/gateway-process.ts';

// Servers of Node that end idle connections, at once or at the worst moment, reached directly and through the host.

const company = createCa(Date.now());
let server: Server;
let connections = 0;
/** Bodies that arrived whole. */
let bodies: string[] = [];
let answer: RequestListener;

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const WAYS = ['by the relay', 'by the relay, over TLS', 'directly', 'directly, over TLS'] as const;

async function start(way: (typeof WAYS)[number], keepAliveTimeout: number): Promise<GatewayProcess> {
  const isSecure = way.endsWith('TLS');
  const isRelayed = way.startsWith('by the relay');
  connections = 0;
  bodies = [];
  answer = (_, response) => response.end('{"usage":{}}');
  const listener: RequestListener = (incoming, response) => {
    let body = '';
    incoming.on('data', (part) => {
      body += part;
    });
    incoming.on('end', () => {
      bodies.push(body);
      response.setHeader('content-type', 'application/json');
      answer(incoming, response);
    });
  };
  const options = { keepAliveTimeout };
  server = isSecure
    ? createTlsServer({ ...createHostCertificate(company, 'api.test', Date.now()), ...options }, listener)
    : createServer(options, listener);
  server.on(isSecure ? 'secureConnection' : 'connection', () => {
    connections += 1;
  });
  // Written by hand, so that Node does not announce how long it keeps the connection: other servers do not either.
  server.on('request', (_, response) => response.setHeader('connection', 'keep-alive'));
  await new Promise<void>((done) => server.listen(0, '127.0.0.2', done));
  const { port } = server.address() as AddressInfo;
  return GatewayProcess.start({
    targets: { provider: { host: '127.0.0.2', port } },
    credential: fixedCredential('real-1'),
    config: {
      extraCa: company.certificate,
      allowAddresses: ['127.0.0.2/32'],
      hosts: { 'api.test': [`127.0.0.2@${port}`] },
      provider: { url: `${isSecure ? 'https' : 'http'}://api.test:${port}`, relay: isRelayed },
    },
  });
}

function ask(gateway: GatewayProcess, content = 'x'): Promise<{ status: number; body: string }> {
  return new Promise((done) => {
    const socketPath = path.join(gateway.dir, 'api.sock');
    const out = request({ socketPath, method: 'POST', path: '/v1/messages' }, (response) => {
      let body = '';
      response.on('data', (part) => {
        body += part;
      });
      response.on('error', () => undefined);
      response.on('close', () => done({ status: response.statusCode ?? 0, body }));
    });
    out.on('error', () => done({ status: 0, body: '' }));
    out.end(JSON.stringify({ model: 'm', messages: [content] }));
  });
}

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

describe.each(WAYS)('a provider that is reached %s', (way) => {
  it('is reached again after each pause, however long it keeps idle connections', { timeout: 60_000 }, async () => {
    await using gateway = await start(way, 100);
    const statuses: number[] = [];
    for (const ms of [0, 20, 95, 100, 105, 150, 1200, 0]) {
      await pause(ms);
      statuses.push((await ask(gateway)).status);
    }
    expect(statuses).toEqual(statuses.map(() => 200));
    expect(connections).toBeGreaterThan(1);
    // A connection is kept as long as the server keeps it.
    expect(connections).toBeLessThan(8);
  });

  it('gets a request again that its kept connection did not answer, once, and none that it may have begun to answer', async () => {
    await using gateway = await start(way, 60_000);
    let resets = 1;
    const reset = (socket: Socket): void => void (resets > 0 ? socket.destroy() : undefined);
    expect((await ask(gateway)).status).toBe(200);
    // At the moment of the request: it has arrived, and nothing was answered.
    answer = (incoming, response) => {
      reset(incoming.socket);
      resets -= 1;
      response.end('{"usage":{}}');
    };
    expect((await ask(gateway, 'again')).status).toBe(200);
    expect(bodies.filter((body) => body.includes('again'))).toHaveLength(2);
    expect(connections).toBe(2);
    // The second time it is an error, which the agent may repeat.
    resets = 9;
    answer = (_, response) => response.end('{"usage":{}}');
    expect((await ask(gateway)).status).toBe(200);
    answer = (incoming) => incoming.socket.destroy();
    expect((await ask(gateway, 'twice')).status).toBe(502);
    expect(bodies.filter((body) => body.includes('twice'))).toHaveLength(2);
    // On a new connection it is not sent again.
    const before = bodies.length;
    expect((await ask(gateway, 'new')).status).toBe(502);
    expect(bodies.length - before).toBe(1);
    // In the middle of an answer, and in the middle of its first line.
    for (const begun of ['HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"a', 'HTTP/1.1 20']) {
      answer = (_, response) => response.end('{"usage":{}}');
      expect((await ask(gateway)).status).toBe(200);
      answer = (incoming) => incoming.socket.end(begun);
      await ask(gateway, 'begun');
    }
    expect(bodies.filter((body) => body.includes('begun'))).toHaveLength(2);
  });

  it('sends an answer that ends with its connection to the last byte, also to an agent that reads slowly', async () => {
    await using gateway = await start(way, 60_000);
    const whole = Buffer.alloc(3 << 20, 'z');
    answer = (incoming) => {
      incoming.socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n');
      incoming.socket.end(whole);
    };
    for (let n = 0; n < 3; n += 1) {
      const response = await new Promise<IncomingMessage>((done, failed) => {
        const socketPath = path.join(gateway.dir, 'api.sock');
        const out = request({ socketPath, method: 'POST', path: '/v1/messages' }, done);
        out.on('error', failed).end('{"model":"m","messages":[]}');
      });
      let size = 0;
      for await (const part of response) {
        size += part.length;
        await pause(3);
      }
      expect(size).toBe(whole.length);
    }
  });

  it('gets a large request again whose connection ends while it is sent', async () => {
    await using gateway = await start(way, 60_000);
    expect((await ask(gateway)).status).toBe(200);
    let cuts = 1;
    server.prependListener('request', (incoming) => {
      if (cuts > 0) incoming.once('data', () => incoming.socket.destroy());
      cuts -= 1;
    });
    const large = 'y'.repeat(8 << 20);
    expect(await ask(gateway, large)).toEqual({ status: 200, body: '{"usage":{}}' });
    expect(bodies.at(-1)).toContain(large);
    expect(connections).toBe(2);
  });
});

import { rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createCa, createHostCertificate } from '../../../../images/gateway/certificate.mjs';
import { GatewayProcess } from '../../../support/gateway-process.ts';

// Hosts besides the provider: each request has its own connection, so that none goes out on one that a server has
// ended, and none is sent twice: it may be an order.

const company = createCa(Date.now());
const servers: Server[] = [];
let arrived = 0;
let sockets = 0;
let isBroken = false;
let gateway: GatewayProcess;

const listener: RequestListener = (request, response) => {
  request.resume().on('end', () => {
    arrived += 1;
    if (isBroken) request.socket.destroy();
    else response.setHeader('connection', 'keep-alive').end('{"jsonrpc":"2.0","id":1,"result":{}}');
  });
};

async function listen(server: Server): Promise<number> {
  servers.push(server);
  server.on('connection', () => {
    sockets += 1;
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.2', done));
  return (server.address() as AddressInfo).port;
}

beforeAll(async () => {
  const bundle = path.join(tmpdir(), `run-claude-connections-${process.pid}`);
  writeFileSync(bundle, '');
  const options = { keepAliveTimeout: 1 };
  const secure = (host: string): Promise<number> =>
    listen(createHttpsServer({ ...createHostCertificate(company, host, Date.now()), ...options }, listener));
  const ports = {
    'api.test': await secure('api.test'),
    'mcp.test': await secure('mcp.test'),
    'plain.test': await listen(createHttpServer(options, listener)),
  };
  gateway = await GatewayProcess.start({
    config: {
      caBundle: bundle,
      extraCa: company.certificate,
      allowAddresses: ['127.0.0.2/32'],
      rules: Object.keys(ports).map((host) => ({ host, from: 'test' })),
      brokers: [
        { host: 'api.test', passes: { methods: ['POST'] } },
        { host: 'mcp.test', passes: { requests: [{ method: 'POST', path: '/mcp' }] }, mcp: {} },
      ],
      hosts: Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, [`127.0.0.2@${port}`]])),
    },
  });
  rmSync(bundle);
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  for (const server of servers) server.close();
});

const BODY = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const post = (target: string, host: string): string =>
  `POST ${target} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`;

it.each<[string, () => Promise<string>]>([
  ['a brokered host', () => gateway.sayInside('api.test', post('/orders', 'api.test'))],
  ['an MCP server', () => gateway.sayInside('mcp.test', post('/mcp', 'mcp.test'))],
  ['a host over plain HTTP', () => gateway.say(post('http://plain.test/orders', 'plain.test'), undefined, /\r\n\r\n./)],
])('a request to %s has its own connection, and is sent once', async (_, send) => {
  [arrived, sockets, isBroken] = [0, 0, false];
  for (const ms of [0, 30, 1200]) {
    await new Promise((done) => setTimeout(done, ms));
    expect(await send()).toMatch(/ 200 [\s\S]*jsonrpc/);
  }
  expect([arrived, sockets]).toEqual([3, 3]);
  isBroken = true;
  expect(await send()).toContain(' 502 ');
  expect([arrived, sockets]).toEqual([4, 4]);
});

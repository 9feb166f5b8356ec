import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Holding } from '../../../../images/gateway/held-body.mjs';
import { fixedCredential, GatewayProcess } from '../../../support/gateway-process.ts';
import { skipUnless } from '../../../support/requirement.ts';

const MB = 1024 * 1024;
const bodyOf = (...parts: readonly string[]): IncomingMessage =>
  Readable.from(parts.map((part) => Buffer.from(part))) as unknown as IncomingMessage;

it('counts the bytes that it holds, from their arrival until they are freed, once', async () => {
  const holding = new Holding({ body: 6, all: 10 });
  const first = await holding.take(bodyOf('ab', 'cd'));
  expect([first.bytes.toString(), holding.held]).toEqual(['abcd', 4]);
  first.replace(Buffer.from('abcdef'));
  expect(holding.held).toBe(6);
  await expect(holding.take(bodyOf('a', 'b', 'cde'))).rejects.toThrow('too many large requests at once');
  await expect(holding.take(bodyOf('abc', 'de'))).rejects.toThrow('too many');
  expect(holding.held).toBe(6);
  await expect(holding.take(bodyOf('abcde'), 3)).rejects.toThrow('larger than');
  expect(holding.held).toBe(6);
  const second = await holding.take(bodyOf('abcd'));
  expect(() => second.replace(Buffer.from('abcde'))).toThrow('too many');
  for (let twice = 0; twice < 2; twice += 1) second.free();
  expect(holding.held).toBe(6);
  for (let twice = 0; twice < 2; twice += 1) first.free();
  expect(holding.held).toBe(0);
});

let provider: Server;
/** Answers that have begun. */
let open: ServerResponse[] = [];

beforeEach(async () => {
  open = [];
  provider = createServer((incoming, response) => {
    incoming.resume().on('end', () => {
      open.push(response);
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: {}\n\n');
    });
  });
  await new Promise<void>((done) => provider.listen(0, '127.0.0.1', done));
});
afterEach(() => {
  provider.closeAllConnections();
  provider.close();
});

function startGateway(): Promise<GatewayProcess> {
  const { port } = provider.address() as AddressInfo;
  return GatewayProcess.start({
    targets: { provider: { host: '127.0.0.1', port } },
    credential: fixedCredential('real-1'),
    config: { provider: { url: `http://127.0.0.1:${port}`, relay: true } },
  });
}

/** The most memory that the process has had. */
function peakMb(pid: number | undefined): number {
  const [, kb = 'NaN'] = /^VmHWM:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kb) / 1024;
}

const LARGE = Buffer.from(JSON.stringify({ model: 'm', max_tokens: 9, messages: ['x'.repeat(32 * MB - 100)] }));

function ask(
  gateway: GatewayProcess,
  target = '/v1/messages',
  body = LARGE,
): { status: Promise<number>; leave(): void } {
  const out = request({ socketPath: path.join(gateway.dir, 'api.sock'), method: 'POST', path: target });
  const status = new Promise<number>((done) => {
    out.on('response', (response) => {
      response.resume().on('error', () => undefined);
      done(response.statusCode ?? 0);
    });
    out.on('error', () => done(0));
  });
  out.end(body);
  return { status, leave: () => out.destroy() };
}

it('holds the bodies of open streams, also of those that the agent has left, and no more than their limit', {
  timeout: 120_000,
}, async (context) => {
  skipUnless(process.platform === 'linux', 'reads /proc', context);
  await using gateway = await startGateway();
  const streams = [];
  const statuses: number[] = [];
  for (let n = 0; n < 10; n += 1) {
    const one = ask(gateway);
    streams.push(one);
    statuses.push(await one.status);
  }
  expect(statuses).toEqual([200, 200, ...Array.from({ length: 8 }, () => 503)]);
  // A small one has room.
  expect(await ask(gateway, '/v1/messages', Buffer.from('{"model":"m","messages":[]}')).status).toBe(200);
  // The provider goes on with what the agent has left, and so the body is held.
  for (const { leave } of streams) leave();
  await new Promise((done) => setTimeout(done, 100));
  expect(await ask(gateway).status).toBe(503);
  expect(await ask(gateway, '/v1/messages/count_tokens').status).toBe(503);
  for (const response of open) response.end();
  await expect.poll(() => ask(gateway).status).toBe(200);
  // Forty times as much was held: the limit of the container is 768 MB.
  expect(peakMb(gateway.pids[0])).toBeLessThan(600);
  expect(gateway.pids).toHaveLength(1);

  await using other = await startGateway();
  const atOnce = await Promise.all(Array.from({ length: 10 }, () => ask(other).status));
  expect(atOnce.filter((status) => status === 200).length).toBeLessThanOrEqual(2);
  expect(atOnce.filter((status) => ![200, 503].includes(status))).toEqual([]);
  expect(peakMb(other.pids[0])).toBeLessThan(600);
});

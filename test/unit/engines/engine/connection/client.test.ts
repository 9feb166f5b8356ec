import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, createServer, type RequestListener, request, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { MAX_ANSWER_BYTES } from '../../../../../src/engines/engine/connection/answer-limit.ts';
import { type Client, openClient } from '../../../../../src/engines/engine/connection/client.ts';
import { dropEndedConnections } from '../../../../../src/engines/engine/connection/kept-connections.ts';
import { callEngine } from '../../../../../src/engines/engine/failure.ts';

let dir: string;
let server: Server;
let client: Client;
let answer: RequestListener;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'rc-client-'));
  const path = join(dir, 's.sock');
  server = createServer((request, response) => answer(request, response)).listen(path);
  await new Promise((resolve) => server.once('listening', resolve));
  client = openClient({ kind: 'unix', path });
});
afterEach(async () => {
  await client.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(dir, { recursive: true });
});

it('an engine that stops in the middle of a response counts as unreachable', async () => {
  answer = (_, response) => void response.writeHead(200, { 'Content-Length': 10 }).write('{');
  await expect(client.get('/info', 300)).rejects.toMatchObject({ name: 'AbortError' });
});

it('reports the message of an engine that refuses a connection, not its JSON', async () => {
  answer = (_, response) => void response.writeHead(409).end('{"message":"it is paused"}');
  await expect(callEngine('attach', () => client.upgrade('/containers/x/attach'))).rejects.toMatchObject({
    code: 'ENGINE_REFUSED',
    message: 'the container engine could not attach: it is paused',
  });
});

it.each<[string, (one: Client) => Promise<unknown>, number]>([
  ['a question', (one) => one.get('/info', 60_000), 200],
  ['a question that fails', (one) => one.get('/info', 60_000), 500],
  ['a request', (one) => one.post('/exec', {}), 200],
  ['an upgrade that is refused', (one) => one.upgrade('/exec/x/start', {}), 200],
  ["a request of the engine's library", async (one) => (await one.docker()).listContainers(), 200],
  ["one of the engine's library that fails", async (one) => (await one.docker()).getContainer('x').inspect(), 500],
  ['a stream that fails', async (one) => (await one.docker()).pull('x'), 500],
])('%s ends with an error where the answer has no end', async (_, send, status) => {
  let written = 0;
  answer = (_request, response) => {
    const block = Buffer.alloc(1_048_576, ' ');
    const pour = (): void => {
      // More than is read, so that nothing else ends it.
      while (!response.destroyed && written < 4 * MAX_ANSWER_BYTES) {
        written += block.length;
        if (!response.write(block)) return void response.once('drain', pour);
      }
    };
    response.writeHead(status);
    pour();
  };
  await expect(send(client)).rejects.toThrow('its answer is longer than 64 MiB');
  expect(written).toBeLessThan(2 * MAX_ANSWER_BYTES);
});

it("passes streams, values and errors of the engine's library as they are", async () => {
  const docker = await client.docker();
  answer = (_, response) => void response.end('[{"Id":"x"}]');
  expect(await docker.listContainers()).toEqual([{ Id: 'x' }]);
  answer = (_, response) => void response.writeHead(404).end('{"message":"no such thing"}');
  await expect(docker.getContainer('x').inspect()).rejects.toMatchObject({
    statusCode: 404,
    json: { message: 'no such thing' },
  });
  await expect(docker.pull('x')).rejects.toMatchObject({ statusCode: 404, json: { message: 'no such thing' } });
  answer = (_, response) => void response.writeHead(204).end();
  await expect(docker.getContainer('x').start()).resolves.toBeDefined();
  answer = (_, response) => {
    response.write('{"status":"one"}\n');
    setTimeout(() => response.end('{"status":"two"}\n'), 20);
  };
  expect(await text(await docker.pull('x'))).toBe('{"status":"one"}\n{"status":"two"}\n');
});

/** Keeps this process from reading what arrives. */
function block(ms: number): void {
  const untilMs = performance.now() + ms;
  while (performance.now() < untilMs);
}

const ENGINE = `
  const { createServer } = require('node:http');
  let left = Number(process.argv[2]);
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      left -= 1;
      if (left === 0) return request.socket.destroy();
      // Written by hand, so that Node does not announce when it ends the connection.
      response.setHeader('connection', 'keep-alive');
      response.writeHead(request.method === 'POST' ? 201 : 200).end(JSON.stringify({ Id: 'x', left }));
      if (process.argv[1] > 0) setTimeout(() => request.socket.end(), Number(process.argv[1]));
    });
  }).listen(0, '127.0.0.1', () => console.log(server.address().port));`;

/** An engine in its own process. It ends connections that are idle for `idleMs`, or one in the middle of request `n`. */
async function startEngine(idleMs: number, n = 0): Promise<{ port: number; child: ChildProcess }> {
  const child = spawn(process.execPath, ['-e', ENGINE, '--', String(idleMs), String(n)], { stdio: 'pipe' });
  const [line] = await once(child.stdout, 'data');
  return { port: Number(line), child };
}

it.each<[string, readonly number[], (one: Client) => Promise<unknown>]>([
  ['a request that changes something', [0, 48, 50, 52, 150], (one) => one.post('/exec', { a: 1 })],
  ['a question', [0, 48, 50, 52, 150], (one) => one.get('/info', 5000)],
  // It cannot repeat what crosses the end of the connection.
  [
    "a request of the engine's library",
    [0, 10, 150],
    async (one) => (await one.docker()).createContainer({ Image: 'x' }),
  ],
])('%s uses no connection that the engine ended while this process was busy', async (_, pauses, send) => {
  const { port, child } = await startEngine(50);
  const tcp = openClient({ kind: 'tcp', host: '127.0.0.1', port, tls: undefined });
  await tcp.docker();
  try {
    for (const ms of pauses) {
      await tcp.get('/info', 5000);
      // The connection is idle from here on.
      await new Promise((resolve) => setTimeout(resolve, 5));
      block(ms);
      await expect(send(tcp)).resolves.toBeDefined();
    }
  } finally {
    await tcp.close();
    child.kill();
  }
});

it('sends a request again that an idle connection did not answer, and no other one', async () => {
  const { port, child } = await startEngine(0, 2);
  const tcp = openClient({ kind: 'tcp', host: '127.0.0.1', port, tls: undefined });
  try {
    await tcp.get('/info', 5000);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await tcp.post('/exec', {})).toMatchObject({ left: -1 });
  } finally {
    await tcp.close();
    child.kill();
  }
  const broken = await startEngine(0, 1);
  const other = openClient({ kind: 'tcp', host: '127.0.0.1', port: broken.port, tls: undefined });
  try {
    await expect(other.post('/exec', {})).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(await other.post('/exec', {})).toMatchObject({ left: -1 });
  } finally {
    await other.close();
    broken.child.kill();
  }
});

it('ends idle connections by itself, before servers usually do', async () => {
  const { port, child } = await startEngine(0);
  const agent = dropEndedConnections(new Agent({ keepAlive: true }), 50);
  try {
    const ask = (): Promise<boolean> =>
      new Promise((done, failed) => {
        const asked = request({ agent, host: '127.0.0.1', port }, (response) =>
          response.resume().on('end', () => done(asked.reusedSocket)),
        );
        asked.on('error', failed).end();
      });
    expect(await ask()).toBe(false);
    await new Promise((done) => setTimeout(done, 10));
    expect(await ask()).toBe(true);
    await expect.poll(() => Object.keys(agent.freeSockets).length).toBe(0);
    expect(await ask()).toBe(false);
  } finally {
    agent.destroy();
    child.kill();
  }
});

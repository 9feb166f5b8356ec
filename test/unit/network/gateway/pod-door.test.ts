import { type ChildProcess, spawn } from 'node:child_process';
import { createServer, request } from 'node:http';
import { connect, createServer as createTcpServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createPodDoor } from '../../../../images/gateway/pod-door.mjs';
import { GatewayProcess } from '../../../support/gateway-process.ts';
import { compileForwarder, listenOn } from '../../../support/preview-scene.ts';
import { skipUnless } from '../../../support/requirement.ts';

const WORD = 'a'.repeat(32);
const LIMITS = { connections: 3, bytesPerConnection: 1e6, headMs: 300, connectMs: 1000, idleMs: 5000 };

const ended: (() => void)[] = [];
afterEach(() => {
  for (const end of ended.splice(0)) end();
});

/** A door with an echo behind `api`. Returns its port. */
async function openDoor(): Promise<number> {
  const echo = createTcpServer((one) => one.pipe(one));
  const door = createPodDoor(WORD, new Map([['api', echo]]), LIMITS);
  ended.push(() => door.close());
  return listenOn(door);
}

/** What comes back for these pieces, until the end. */
function say(port: number, pieces: readonly string[]): Promise<string> {
  return new Promise((done) => {
    let text = '';
    const socket = connect(port, '127.0.0.1');
    socket.on('data', (data) => {
      text += data;
    });
    socket.on('error', () => undefined);
    socket.on('close', () => done(text));
    void (async () => {
      for (const piece of pieces) {
        socket.write(piece);
        await delay(20);
      }
      await delay(50);
      socket.end();
    })();
  });
}

it('joins a connection to the socket that its first line names, whatever the pieces are', async () => {
  const port = await openDoor();
  expect(await say(port, [`${WORD}.api\nhello`])).toBe('hello');
  expect(await say(port, [WORD, '.a', 'pi', '\n', 'hel', 'lo'])).toBe('hello');
});

it('lets a client end its part before the answer, where the server behind the socket does', async () => {
  const answerAtEnd = (allowHalfOpen: boolean) =>
    createTcpServer({ allowHalfOpen }, (one) => one.resume().on('end', () => setTimeout(() => one.end('answer'), 20)));
  const door = createPodDoor(
    WORD,
    new Map([
      ['half', answerAtEnd(true)],
      ['whole', answerAtEnd(false)],
    ]),
    LIMITS,
  );
  ended.push(() => door.close());
  const port = await listenOn(door);
  expect(await say(port, [`${WORD}.half\nquestion`])).toBe('answer');
  expect(await say(port, [`${WORD}.whole\nquestion`])).toBe('');
});

it('ends a connection without the word, and one that names no socket, too long a name, or nothing in time', async () => {
  const port = await openDoor();
  for (const pieces of [
    ...['api\nx', `${'b'.repeat(32)}.api\nx`, '.api\nx', `${WORD}\nx`, `${WORD}.ports\nx`, `${WORD}.../api\nx`],
    ...['\nx', 'x'.repeat(63), `${WORD}.api`],
  ].map((one) => [one])) {
    const before = Date.now();
    expect(await say(port, pieces)).toBe('');
    expect(Date.now() - before).toBeLessThan(2000);
  }
  const silent = connect(port, '127.0.0.1').on('error', () => undefined);
  await new Promise((closed) => silent.once('close', closed));
});

it('does not take more connections than the gateway does', async () => {
  const port = await openDoor();
  const held = Array.from({ length: LIMITS.connections }, () => connect(port, '127.0.0.1'));
  ended.push(() => held.map((one) => one.destroy()));
  for (const one of held) one.on('error', () => undefined).write(`${WORD}.api\n`);
  await delay(100);
  expect(await say(port, [`${WORD}.api\nhello`])).toBe('');
});

beforeEach((context) => {
  if (context.task.name.includes('forwarder')) skipUnless(process.platform === 'linux', 'needs Linux', context);
});

it('the forwarder joins its port to the gateway of another pod, and the gateway answers as on its socket', async () => {
  const [podPort, own] = [await freePort(), await freePort()];
  await using gateway = await GatewayProcess.start({ config: { podDoor: { port: podPort, word: WORD } } });
  const forwarder = spawn(compileForwarder(), [`${own}=tcp:127.0.0.1:${podPort}/${WORD}.proxy`], { stdio: 'inherit' });
  ended.push(() => forwarder.kill('SIGKILL'));
  await listening(own, forwarder);
  const direct = await gateway.say(
    'GET http://nowhere.invalid/ HTTP/1.1\r\nHost: nowhere.invalid\r\nConnection: close\r\n\r\n',
  );
  const status = await new Promise((done, failed) => {
    const options = { host: '127.0.0.1', port: own, path: 'http://nowhere.invalid/', agent: false };
    request(options, (response) => done(response.resume().statusCode))
      .on('error', failed)
      .end();
  });
  expect(direct).toContain(` ${status} `);
  expect(status).toBe(403);
});

it('the forwarder refuses another form of a gateway', async () => {
  for (const word of [
    'tcp:gateway:1/api',
    'tcp:127.0.0.1:0/api',
    'tcp:127.0.0.1:1/',
    `tcp:127.0.0.1:1/${'x'.repeat(63)}`,
  ]) {
    const child = spawn(compileForwarder(), [`1=${word}`], { stdio: 'ignore' });
    expect(await new Promise((done) => child.once('exit', done)), word).toBe(2);
  }
});

async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listenOn(server);
  await new Promise((closed) => server.close(closed));
  return port;
}

async function listening(port: number, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 200 && child.exitCode === null; tries++) {
    const isOpen = await new Promise((done) => {
      const socket = connect(port, '127.0.0.1', () => done(true)).on('error', () => done(false));
      ended.push(() => socket.destroy());
    });
    if (isOpen) return;
    await delay(20);
  }
  throw new Error('the forwarder does not listen');
}

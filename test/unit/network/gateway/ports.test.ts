import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseLocalService, parseLocalServices } from '../../../../src/network/gateway/rules/local-services.ts';
import { GatewayProcess } from '../../../support/gateway-process.ts';
import { compileForwarder, listenOn } from '../../../support/preview-scene.ts';

// Streams from the host to a port of the agent, and from the agent to a service of the host.

let echo: Server;
let echoPort: number;

beforeAll(async () => {
  echo = createServer({ allowHalfOpen: true }, (socket) => void socket.on('error', () => undefined).pipe(socket));
  echoPort = await listenOn(echo);
});

afterAll(() => {
  echo.close();
});

/** Sends bytes and the end, and gives what came back, or the error. */
async function exchange(gateway: GatewayProcess, port: number, bytes: string | Buffer): Promise<string> {
  const stream = gateway.kept.openPort(port);
  if (stream === undefined) return 'no gateway';
  const pieces: Buffer[] = [];
  return new Promise((resolve) => {
    stream.on('data', (piece: Buffer) => pieces.push(piece));
    stream.on('error', (error) => resolve(error.message));
    stream.on('close', () => resolve(Buffer.concat(pieces).toString('latin1')));
    stream.end(bytes);
  });
}

async function withForwarder(body: (gateway: GatewayProcess) => Promise<void>): Promise<void> {
  await using gateway = await GatewayProcess.start({ config: {} });
  const forwarder = spawn(compileForwarder(), [`from=${gateway.dir}/ports.sock`], { stdio: 'ignore' });
  try {
    await body(gateway);
  } finally {
    forwarder.kill('SIGKILL');
    await once(forwarder, 'exit');
  }
}

it('reaches a port inside, many at once, with all bytes and the end in both directions', async () => {
  await withForwarder(async (gateway) => {
    const big = Buffer.alloc(3_000_000, 'ab');
    const sent = [big, ...Array.from({ length: 60 }, (_, at) => Buffer.from(`one of many ${at}`))];
    const got = await Promise.all(sent.map((bytes) => exchange(gateway, echoPort, bytes)));
    expect(got.map((text) => text.length)).toEqual(sent.map((bytes) => bytes.length));
    expect(got[0]).toBe(big.toString('latin1'));
    expect(got[7]).toBe('one of many 6');
  });
});

it('says that nothing listens', async () => {
  await withForwarder(async (gateway) => {
    expect(await exchange(gateway, 1, 'x')).toBe('nothing listens on this port inside');
    expect(await exchange(gateway, 0, 'x')).toBe('nothing listens on this port inside');
  });
});

it('goes on after the forwarder, and after the gateway, was killed', async () => {
  await using gateway = await GatewayProcess.start({ config: {} });
  const start = () => spawn(compileForwarder(), [`from=${gateway.dir}/ports.sock`], { stdio: 'ignore' });
  const first = start();
  expect(await exchange(gateway, echoPort, 'a')).toBe('a');
  first.kill('SIGKILL');
  await once(first, 'exit');
  const second = start();
  try {
    expect(await exchange(gateway, echoPort, 'b')).toBe('b');
    process.kill(gateway.pids.at(-1) ?? 0, 'SIGKILL');
    await expect.poll(() => exchange(gateway, echoPort, 'c'), { timeout: 20_000 }).toBe('c');
  } finally {
    second.kill('SIGKILL');
  }
});

const openAs = (gateway: GatewayProcess, count: number, first = ''): Socket[] =>
  Array.from({ length: count }, () => {
    const socket = connect(path.join(gateway.dir, 'ports.sock'));
    socket.on('error', () => undefined);
    if (first !== '') socket.write(first);
    return socket;
  });
const areOpen = (sockets: readonly Socket[]): number => sockets.filter((socket) => !socket.closed).length;

it('keeps few connections of an agent that opens many', async () => {
  await using gateway = await GatewayProcess.start({ config: {} });
  const flood = openAs(gateway, 300);
  for (const socket of flood) socket.resume();
  await expect.poll(() => areOpen(flood), { timeout: 20_000 }).toBe(16);
  for (const socket of flood) socket.destroy();
  const forwarder = spawn(compileForwarder(), [`from=${gateway.dir}/ports.sock`], { stdio: 'ignore' });
  await expect.poll(() => exchange(gateway, echoPort, 'still here'), { timeout: 20_000 }).toBe('still here');
  forwarder.kill('SIGKILL');
});

it('closes a connection of the agent that sends bytes before the gateway has named a port', async () => {
  await using gateway = await GatewayProcess.start({ config: {} });
  const early = openAs(gateway, 3, '\0HTTP/1.1 200 OK\r\n\r\n');
  for (const socket of early) socket.resume();
  await expect.poll(() => areOpen(early)).toBe(0);
});

it('gives up a connection that the agent opened and never answers', { timeout: 30_000 }, async () => {
  await using gateway = await GatewayProcess.start({ config: {} });
  const silent = openAs(gateway, 1);
  await once(silent[0] as Socket, 'connect');
  expect(await exchange(gateway, echoPort, 'x')).toBe('the session does not answer');
});

async function withService(body: (gateway: GatewayProcess) => Promise<void>): Promise<void> {
  const targets = { [`local ${echoPort}`]: { host: '127.0.0.1', port: echoPort } };
  await using gateway = await GatewayProcess.start({ config: { localPorts: [echoPort, 1] }, targets });
  await body(gateway);
}

async function sayTo(gateway: GatewayProcess, port: number, bytes: string): Promise<string> {
  const socket = connect(path.join(gateway.dir, `local-${port}.sock`));
  let text = '';
  socket.on('data', (piece) => (text += piece.toString()));
  socket.on('error', (error) => (text += error.message));
  socket.end(bytes);
  await new Promise((done) => socket.once('close', done));
  return text;
}

it('lets the agent use a service of the host that was named, and logs it', async () => {
  await withService(async (gateway) => {
    expect(await sayTo(gateway, echoPort, 'select 1')).toBe('select 1');
    await expect.poll(() => gateway.entries().length).toBe(1);
    const passed = { kind: 'local', verdict: 'passed', host: '127.0.0.1', port: echoPort, up: 8, down: 8 };
    expect(gateway.entries()[0]).toMatchObject(passed);
  });
});

it('closes the connection to a service that keeps it open, when the agent has left', async () => {
  const held: Socket[] = [];
  const service = createServer({ allowHalfOpen: true }, (socket) => {
    held.push(socket);
    socket.on('error', () => undefined).resume();
    socket.write('x'.repeat(1000));
  });
  const port = await listenOn(service);
  const targets = { [`local ${port}`]: { host: '127.0.0.1', port } };
  await using gateway = await GatewayProcess.start({ config: { localPorts: [port] }, targets });
  try {
    const socket = connect(path.join(gateway.dir, `local-${port}.sock`));
    socket.on('error', () => undefined).end('and the end');
    await expect.poll(() => held.length > 0 && held[0]?.readableEnded).toBe(true);
    socket.destroy();
    // The gateway sees that the agent has left when it writes to it.
    await expect
      .poll(() => {
        held[0]?.write('more');
        return held[0]?.closed;
      })
      .toBe(true);
  } finally {
    service.close();
  }
});

it('reaches no port of the host that the session does not name, whatever the gateway asks for', async () => {
  await withService(async (gateway) => {
    // The gateway has a socket for port 1 here, and the host no target.
    expect(await sayTo(gateway, 1, 'x')).toBe('');
    await expect.poll(() => gateway.entries().length).toBe(1);
    expect(gateway.entries()[0]).toMatchObject({
      kind: 'local',
      verdict: 'failed',
      port: 1,
      why: 'unknown relay target',
    });
  });
});

it('reads a service as PORT[:NAME]', () => {
  expect(parseLocalService('5432')).toEqual({ port: 5432, name: undefined });
  expect(parseLocalService('5432:db.internal')).toEqual({ port: 5432, name: 'db.internal' });
  expect(() => parseLocalServices(['5432:a', '5432:b'])).toThrow(/a port is named twice/);
  expect(() => parseLocalServices(['5432:a', '5433:a'])).toThrow(/a name is named twice/);
  expect(parseLocalServices(['5432', '5433', '5434:a'])).toHaveLength(3);
  expect(() => parseLocalServices(Array.from({ length: 9 }, (_, at) => String(5000 + at)))).toThrow(/more than 8/);
});

it.each([
  '',
  '80',
  '65536',
  '47801',
  '5432:',
  '5432:localhost',
  '5432:10.0.0.1',
  '5432:a b',
  '5432:a:b',
  '5432:A',
  'db:5432',
])('refuses the service %j', (text) => {
  expect(() => parseLocalService(text)).toThrow(/--allow-local/);
});

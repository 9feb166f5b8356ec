import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type ClientRequest, request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';

const BRIDGE = path.resolve(import.meta.dirname, '../../../../images/companion/mcp-stdio.mjs');

/** A server that does what a message names. */
const SERVER = `
const say = (one) => process.stdout.write(JSON.stringify(one) + '\\n');
require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'env') say({ jsonrpc: '2.0', id, result: { token: process.env.TOKEN, cwd: process.cwd() } });
  else if (method === 'noise') { process.stdout.write('hello\\n[1]\\nnull\\n'); say({ id: 'other', result: 1 }); say({ id, result: 'after' }); }
  else if (method === 'tell') { say({ jsonrpc: '2.0', method: 'notifications/message', params: { n: 1 } }); say({ id, result: 2 }); }
  else if (method === 'end') process.exit(3);
  else if (method === 'flood') process.stdout.write('x'.repeat(17 * 1024 * 1024));
  else if (method === 'silent') return;
  else if (id !== undefined && method !== undefined) say({ jsonrpc: '2.0', id, result: { method } });
});
`;

interface Answer {
  readonly status: number;
  readonly session: string | undefined;
  readonly body: string;
}

async function startBridge() {
  const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-bridge-'));
  writeFileSync(path.join(dir, 'server.cjs'), SERVER);
  const socket = path.join(dir, 's.sock');
  const bridge = spawn(process.execPath, [BRIDGE, socket, dir, process.execPath, 'server.cjs'], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  onTestFinished(() => {
    bridge.kill('SIGKILL');
    rmSync(dir, { recursive: true, force: true });
  });
  bridge.stdin.write(`${JSON.stringify({ env: { TOKEN: 'secret' }, token: 'mine' })}\n`);
  const send = (message: unknown, session?: string, method = 'POST'): Promise<Answer> =>
    new Promise((done, failed) => {
      const headers = { 'x-run-claude-token': 'mine', ...(session === undefined ? {} : { 'mcp-session-id': session }) };
      const out = request({ socketPath: socket, path: '/mcp', method, headers }, (answer) => {
        let body = '';
        answer.setEncoding('utf8').on('data', (part) => {
          body += part;
          if (method === 'GET') answer.destroy();
        });
        answer.on('error', () => undefined);
        answer.on('close', () => {
          const named = answer.headers['mcp-session-id'];
          done({ status: answer.statusCode ?? 0, session: typeof named === 'string' ? named : undefined, body });
        });
      });
      out.on('error', failed);
      out.end(message === undefined ? undefined : JSON.stringify(message));
    });
  const open = async (): Promise<string> => (await send({ id: 0, method: 'initialize' })).session ?? '';
  // The socket exists a moment before it accepts connections.
  await vi.waitFor(() => send(undefined, 'none', 'GET'), { timeout: 20_000 });
  return { bridge, dir, socket, send, open };
}

it('gives each session of the protocol a process of the program, with its secret, and passes messages both ways', async () => {
  const { send, open, dir } = await startBridge();
  const session = await open();
  const env = JSON.parse((await send({ id: 1, method: 'env' }, session)).body);
  expect(env.result.token).toBe('secret');
  expect(path.basename(env.result.cwd)).toBe(path.basename(dir));
  expect((await send({ method: 'notifications/initialized' }, session)).status).toBe(202);
  expect(JSON.parse((await send({ id: 2, method: 'noise' }, session)).body)).toEqual({ id: 2, result: 'after' });
  expect(JSON.parse((await send({ id: 'a', method: 'tell' }, session)).body)).toEqual({ id: 'a', result: 2 });
  expect((await send(undefined, session, 'GET')).body).toContain('"method":"notifications/message"');
  expect((await send(undefined, session, 'DELETE')).status).toBe(200);
  await vi.waitFor(async () => expect((await send({ id: 3, method: 'env' }, session)).status).toBe(404));
});

it('refuses what is not one message, and another session; of too many sessions it ends the least used', async () => {
  const { send, open } = await startBridge();
  expect((await send([{ id: 1, method: 'initialize' }])).status).toBe(400);
  expect((await send({ id: 1, method: 'env' })).status).toBe(404);
  expect((await send({ id: 1, method: 'env' }, 'x')).status).toBe(404);
  expect((await send({ id: 1, method: 'initialize' }, 'x')).status).toBe(404);
  expect((await send(undefined, 'x', 'GET')).status).toBe(404);
  const sessions = await Promise.all(Array.from({ length: 8 }, open));
  expect(new Set(sessions).size).toBe(8);
  const env = async (session: string): Promise<number> => (await send({ id: 1, method: 'env' }, session)).status;
  const [unused = '', ...used] = sessions;
  for (const session of used) expect(await env(session)).toBe(200);
  const ninth = await open();
  expect(await env(unused)).toBe(404);
  for (const session of [...used, ninth]) expect(await env(session)).toBe(200);
});

it('answers nobody who has not its token: another companion can be reached by a link in place of a socket', async () => {
  const { socket, open, send } = await startBridge();
  const session = await open();
  const statusWith = (headers: Readonly<Record<string, string>>, method = 'POST'): Promise<number | undefined> =>
    new Promise((done, failed) => {
      const options = { socketPath: socket, path: '/mcp', method, headers: { 'mcp-session-id': session, ...headers } };
      const out = request(options, (answer) => {
        answer.resume();
        done(answer.statusCode);
      });
      out.on('error', failed);
      out.end(method === 'POST' ? JSON.stringify({ id: 1, method: 'env' }) : undefined);
    });
  for (const method of ['POST', 'GET', 'DELETE']) {
    expect(await statusWith({}, method)).toBe(403);
    expect(await statusWith({ 'x-run-claude-token': 'theirs' }, method)).toBe(403);
    expect(await statusWith({ 'x-run-claude-token': 'undefined' }, method)).toBe(403);
  }
  expect((await send({ id: 1, method: 'env' }, session)).status).toBe(200);
});

it('forgets a request whose client has ended, so that its id can be used again', async () => {
  const { socket, send, open } = await startBridge();
  const session = await open();
  const ended: ClientRequest = request({
    socketPath: socket,
    path: '/mcp',
    method: 'POST',
    headers: { 'x-run-claude-token': 'mine', 'mcp-session-id': session },
  });
  ended.on('error', () => undefined).end(JSON.stringify({ id: 5, method: 'silent' }));
  await vi.waitFor(async () =>
    expect((await send({ id: 5, method: 'env' }, session)).body).toContain('not possible now'),
  );
  ended.destroy();
  await vi.waitFor(async () => expect((await send({ id: 5, method: 'env' }, session)).body).toContain('result'));
});

it('answers open requests when the program ends, ends one that floods, and ends with its input', async () => {
  const { bridge, send, open } = await startBridge();
  const session = await open();
  const waiting = send({ id: 9, method: 'silent' }, session);
  await send({ id: 1, method: 'env' }, session);
  expect((await send({ id: 9, method: 'env' }, session)).body).toContain('not possible now');
  expect((await send({ id: 2, method: 'end' }, session)).body).toContain('the MCP server has ended');
  expect(JSON.parse((await waiting).body)).toMatchObject({ id: 9, error: { message: 'the MCP server has ended' } });
  expect((await send({ id: 3, method: 'env' }, session)).status).toBe(404);
  const other = await open();
  expect((await send({ id: 1, method: 'flood' }, other)).body).toContain('the MCP server has ended');
  bridge.stdin.end();
  expect(await once(bridge, 'exit')).toEqual([0, null]);
});

import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Client, openClient } from '../../../../src/engine/connection/client.ts';
import { callEngine } from '../../../../src/engine/failure.ts';

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

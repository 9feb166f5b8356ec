import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { traceCalls } from '../../../src/cli/trace-calls.ts';

it('traces requests and programs without secrets, until it is disposed', async () => {
  const server = createServer((_, response) => response.writeHead(404).end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const told: string[] = [];
  const ask = async (path: string): Promise<void> => {
    const [response] = await once(get({ port, path, headers: { authorization: 'Bearer hidden' } }), 'response');
    response.resume();
    await once(response, 'end');
  };
  {
    using _calls = traceCalls((event) => told.push(event.kind === 'trace' ? event.text : ''));
    await ask('/images/x/json?token=hidden');
    await promisify(execFile)('true', ['--api-key=hidden', 'https://user:hidden@example.org/', 'plain']);
    await once(get({ socketPath: '/nowhere/engine.sock', path: '/info' }), 'error').catch(() => undefined);
  }
  await ask('/later');
  server.close();
  const text = told.join('\n');
  expect(text).toMatch(new RegExp(`GET localhost:${port}/images/x/json: 404 in \\d+ ms`));
  expect(text).toContain('starts true --api-key=[masked] https://[masked]@example.org/ plain');
  expect(text).toMatch(/GET \S*\/info: .*ENOENT/);
  expect(text).not.toMatch(/hidden|later/);
});

import { rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createCa, createHostCertificate } from '../../../../images/gateway/certificate.mjs';
import { RunClaudeError } from '../../../../src/core/errors.ts';
import type { CredentialSource, Secret } from '../../../../src/core/types/agent/credential.ts';
import { resolveBrokers } from '../../../../src/network/gateway/rules/brokers.ts';
import { mcpHost } from '../../../../src/network/gateway/rules/mcp-servers.ts';
import { GatewayProcess } from '../../../support/gateway-process.ts';

// The real gateway program with an MCP server whose login the host renews: the server takes one token at a time.

const company = createCa(Date.now());
const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close().closeAllConnections();
});

const SERVER = { name: 'box', url: 'https://api.test/mcp', oauth: true };

interface Seen {
  readonly line: string;
  readonly token: string | undefined;
  readonly body: string;
}

async function before(
  login: CredentialSource,
  takes: (token: string | undefined) => number,
  headers: Readonly<Record<string, string>> = {},
) {
  const seen: Seen[] = [];
  const { key, cert } = createHostCertificate(company, 'api.test', Date.now());
  const server = createServer({ key, cert }, (request, response) => {
    let body = '';
    request.on('data', (part) => {
      body += part;
    });
    request.on('end', () => {
      const token = request.headers.authorization;
      seen.push({ line: `${request.method} ${request.url}`, token, body });
      response.writeHead(takes(token), { ...headers, connection: 'close' }).end('here');
    });
  });
  servers.push(server);
  await new Promise<void>((done) => {
    server.listen(0, '127.0.0.2', done);
  });
  const bundle = path.join(tmpdir(), `run-claude-mcp-login-${process.pid}`);
  writeFileSync(bundle, '');
  const gateway = await GatewayProcess.start({
    logins: new Map([['box', login]]),
    config: {
      caBundle: bundle,
      extraCa: company.certificate,
      allowAddresses: ['127.0.0.2/32'],
      rules: [{ host: 'api.test', from: 'test' }],
      brokers: [{ ...mcpHost(SERVER), login: { name: 'box', secret: await login.current() } }],
      hosts: { 'api.test': [`127.0.0.2@${(server.address() as AddressInfo).port}`] },
    },
  });
  return { gateway, seen, bundle };
}

function source(tokens: readonly string[]): CredentialSource & { refreshed: number } {
  let at = 0;
  const current = async (): Promise<Secret> => ({ kind: 'oauth', value: tokens[at] ?? '' });
  const one = {
    name: 'test',
    kind: 'oauth' as const,
    refreshed: 0,
    current,
    refresh: async () => {
      one.refreshed += 1;
      await new Promise((done) => setTimeout(done, 50));
      at += 1;
      if (tokens[at] === undefined)
        throw new RunClaudeError('CREDENTIAL_EXPIRED', 'the login to box has expired', { hint: 'Log in again.' });
      return current();
    },
  };
  return one;
}

const say = (method: string, more = '', body = ''): string =>
  `${method} /mcp HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\nAuthorization: Bearer mine\r\n${more}${
    method === 'POST' ? `Content-Length: ${body.length}\r\n` : ''
  }\r\n${body}`;
const CALL = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search"}}';

it('puts the token into each request, and sends a refused one again with the token that the host renewed', async () => {
  const login = source(['token-1', 'token-2']);
  let good = 'Bearer token-1';
  await using scene = await withDispose(before(login, (token) => (token === good ? 200 : 401)));
  const { gateway, seen } = scene;
  for (const text of [say('POST', '', CALL), say('GET'), say('DELETE')])
    expect(await gateway.sayInside('api.test', text)).toContain(' 200 ');
  good = 'Bearer token-2';
  // All at once: the host is asked once.
  const answers = await Promise.all(
    [say('POST', '', CALL), say('GET'), say('POST', '', CALL)].map((text) => gateway.sayInside('api.test', text)),
  );
  for (const answer of answers) expect(answer).toContain(' 200 ');
  expect(login.refreshed).toBe(1);
  expect(new Set(seen.map(({ token }) => token))).toEqual(new Set(['Bearer token-1', 'Bearer token-2']));
  expect(new Set(seen.filter(({ line }) => line === 'POST /mcp').map(({ body }) => body))).toEqual(new Set([CALL]));
  expect(JSON.stringify(gateway.entries())).not.toContain('token-');
});

it('passes on a refusal of the new token, asks the host no second time, and keeps the token for a next gateway', async () => {
  const login = source(['token-1', 'token-2', 'token-3']);
  await using scene = await withDispose(before(login, () => 401));
  const { gateway, seen } = scene;
  for (let turn = 0; turn < 3; turn += 1)
    expect(await gateway.sayInside('api.test', say('POST', '', CALL))).toContain(' 401 ');
  expect(login.refreshed).toBe(1);
  process.kill(gateway.pids[0] ?? 0, 'SIGKILL');
  await expect.poll(() => gateway.pids.length).toBe(2);
  await expect.poll(() => gateway.sayInside('api.test', say('POST', '', CALL))).toContain(' 401 ');
  expect(seen.filter(({ token }) => token === 'Bearer token-1')).toHaveLength(1);
});

it('sends a body again whole that came in pieces', async () => {
  const login = source(['token-1', 'token-2']);
  await using scene = await withDispose(before(login, (token) => (token === 'Bearer token-2' ? 200 : 401)));
  const call = CALL.replace('}}', `,"arguments":{"text":"${'x'.repeat(1 << 20)}"}}}`);
  const pieces = call.match(/.{1,60000}/g) ?? [];
  const chunks = [...pieces, ''].map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`).join('');
  const head = say('POST').replace('Content-Length: 0', 'Transfer-Encoding: chunked\r\nExpect: 100-continue');
  expect(await scene.gateway.sayInside('api.test', `${head}${chunks}`)).toContain(' 200 ');
  expect(scene.seen.map(({ token, body }) => [token, body === call])).toEqual([
    ['Bearer token-1', true],
    ['Bearer token-2', true],
  ]);
});

it('follows no redirect, and gives the token to no other address of the server', async () => {
  const login = source(['token-1']);
  const location = { location: 'https://api.test/other' };
  await using scene = await withDispose(before(login, () => 307, location));
  const answer = await scene.gateway.sayInside('api.test', say('POST', '', CALL));
  expect(answer).toMatch(/ 307 [\s\S]*https:\/\/api\.test\/other/);
  for (const to of ['/other', '/mcp/..%2fother', '/mcp/', '//api.test/mcp'])
    expect(await scene.gateway.sayInside('api.test', say('GET').replace('/mcp', to))).toContain(' 403 ');
  expect(scene.seen.map(({ line }) => line)).toEqual(['POST /mcp']);
});

it('says how to log in again where the host cannot renew it', async () => {
  const login = source(['token-1']);
  await using scene = await withDispose(before(login, () => 401));
  const answer = await scene.gateway.sayInside('api.test', say('POST', '', CALL));
  expect(answer).toMatch(/ 502 [\s\S]*the login to box has expired\. Log in again\./);
  expect(scene.gateway.events).toContainEqual(
    expect.objectContaining({ kind: 'message', level: 'error', text: 'the login to box has expired. Log in again.' }),
  );
});

it('a session without the login does not start', async () => {
  const policy = { brokers: [], mcpServers: [SERVER] };
  await expect(resolveBrokers(policy)).rejects.toThrow('[[mcp]] box: its login is not known here');
  const [host] = await resolveBrokers(policy, new Map(), new Map([['box', source(['token-1'])]]));
  expect(host).toMatchObject({ host: 'api.test', login: { name: 'box', secret: { value: 'token-1' } } });
});

async function withDispose(started: ReturnType<typeof before>) {
  const { gateway, seen, bundle } = await started;
  return {
    gateway,
    seen,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      rmSync(bundle);
    },
  };
}

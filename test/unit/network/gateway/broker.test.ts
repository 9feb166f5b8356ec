import { request } from 'node:http';
import path from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { RunClaudeError } from '../../../../src/core/errors.ts';
import type { CredentialSource } from '../../../../src/core/types/agent/credential.ts';
import type { GatewayConfig } from '../../../../src/core/types/gateway.ts';
import { GatewayProcess } from '../../../support/gateway-process.ts';
import { type StandIn, startMessagesApi } from '../../../support/stand-in/messages-api.mjs';

const TURN = { model: 'claude-sonnet-4-5', stream: true, tools: [{ name: 'Bash' }], messages: [] };
let standIn: StandIn;
let good = 'real-1';
afterEach(() => standIn.close());

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** A credential that is renewed after a while, as the host's store would. */
function source(first: string, next?: string): CredentialSource & { refreshed: number } {
  const made = {
    name: 'test',
    kind: 'oauth' as const,
    refreshed: 0,
    current: async () => ({ kind: 'oauth' as const, value: first }),
    refresh: async () => {
      made.refreshed += 1;
      await new Promise((done) => setTimeout(done, 100));
      if (next === undefined)
        throw new RunClaudeError('CREDENTIAL_EXPIRED', 'the login has expired', { hint: 'Log in on the host.' });
      return { kind: 'oauth' as const, value: next };
    },
  };
  return made;
}

async function start(
  credential: CredentialSource | undefined,
  config: Partial<GatewayConfig> = {},
): Promise<GatewayProcess> {
  const provider = config.provider === undefined ? { url: standIn.url, relay: true } : config.provider;
  const targets = { provider: { host: '127.0.0.1', port: standIn.port } };
  return GatewayProcess.start({
    targets,
    ...(credential === undefined ? {} : { credential }),
    config: { provider, ...config },
  });
}

function ask(gateway: GatewayProcess, method: string, target: string, body: object | string = TURN): Promise<Answer> {
  return new Promise((done, failed) => {
    const headers = { authorization: 'Bearer placeholder', 'x-api-key': 'placeholder', cookie: 'a=b' };
    const out = request({ socketPath: path.join(gateway.dir, 'api.sock'), method, path: target, headers }, (answer) => {
      let text = '';
      answer.on('data', (chunk) => {
        text += chunk;
      });
      answer.on('end', () => done({ status: answer.statusCode ?? 0, body: text }));
      answer.on('error', failed);
    });
    out.on('error', failed);
    out.end(method === 'POST' ? (typeof body === 'string' ? body : JSON.stringify(body)) : undefined);
  });
}

it('replaces the placeholder by the credential, streams, counts, and forwards only inference requests', async () => {
  standIn = await startMessagesApi({ turns: [{ text: 'hello', inputTokens: 1_000_000, outputTokens: 100_000 }] });
  await using gateway = await start(source('real-1'));
  expect((await ask(gateway, 'POST', '/v1/messages?beta=true')).body).toContain('message_stop');
  const [seen] = standIn.requests;
  expect(seen?.headers['authorization']).toBe('Bearer real-1');
  expect(seen?.headers['x-api-key']).toBeUndefined();
  expect(seen?.headers['cookie']).toBeUndefined();
  await expect.poll(() => gateway.kept.usage().outputTokens).toBe(100_000);
  expect(gateway.kept.usage()).toMatchObject({ requests: 1, inputTokens: 1_000_000, costUsd: 8.25 });

  const before = standIn.requests.length;
  const refused: [string, string][] = [
    ['POST', '/v1/organizations/api_keys'],
    ['GET', '/v1/organizations'],
    ['POST', '/api/oauth/token'],
    ['GET', '/api/oauth/profile'],
    ['POST', '/v1/oauth/token'],
    ['POST', '/v1/messages/batches'],
    ['POST', '/v1/files'],
    ['POST', '//v1/messages'],
    ['POST', '/v1/messages/../organizations'],
    ['POST', '/v1/messages%2f..%2forganizations'],
    ['POST', '/V1/messages'],
    ['GET', '/v1/messages'],
    ['DELETE', '/v1/messages'],
    ['POST', 'http://other.test/v1/messages'],
    ['POST', '/v1/messages#/../x'],
    ['POST', '/v1/messages?x=/../y'],
  ];
  for (const [method, target] of refused)
    expect([target, (await ask(gateway, method, target)).status]).toEqual([target, 403]);
  const fetches = [
    { ...TURN, mcp_servers: [{ type: 'url', url: 'https://evil.test/' }] },
    { ...TURN, tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }] },
    {
      ...TURN,
      messages: [
        { role: 'user', content: [{ type: 'image', source: { type: 'url', url: 'https://evil.test/?secret' } }] },
      ],
    },
  ];
  const stored = [
    { ...TURN, container: 'container_1' },
    { ...TURN, container: { skills: [{ type: 'custom', skill_id: 'skill_1' }] } },
    ...[
      { type: 'container_upload', file_id: 'f' },
      { type: 'document', source: { type: 'file', file_id: 'f' } },
    ].map((block) => ({ ...TURN, messages: [{ role: 'user', content: [block] }] })),
  ];
  for (const body of stored) {
    const { status, body: why } = await ask(gateway, 'POST', '/v1/messages', body);
    expect([status, why]).toEqual([403, expect.stringMatching(/(container: what is|file_id: the account)/)]);
  }
  for (const body of fetches) expect((await ask(gateway, 'POST', '/v1/messages', body)).status).toBe(403);
  expect((await ask(gateway, 'POST', '/v1/messages', 'not json')).status).toBe(403);
  expect(standIn.requests.length).toBe(before);
  // Control: a request of the same shape without those parts arrives.
  const call = { type: 'tool_use', id: 't', name: 'Read', input: { file_id: 'of the agent', container: 'its own' } };
  const data = { ...TURN, container: null, messages: [{ role: 'assistant', content: [call] }] };
  expect((await ask(gateway, 'POST', '/v1/messages/count_tokens', data)).status).toBe(200);
  expect((await ask(gateway, 'HEAD', '/api/hello')).status).toBe(200);
  expect(JSON.stringify(gateway.entries())).not.toContain('real-1');
});

it('renews once for all requests that received a 401 together, while another response continues', async () => {
  good = 'real-1';
  const turns = [{ text: 'a slow answer '.repeat(20), delayMs: 60 }, {}, {}, {}];
  standIn = await startMessagesApi({ turns, accepts: (credential) => credential === good });
  const credential = source('real-1', 'real-2');
  await using gateway = await start(credential);
  const slow = ask(gateway, 'POST', '/v1/messages');
  await expect.poll(() => standIn.requests.length).toBe(1);
  await new Promise((done) => setTimeout(done, 200));
  good = 'real-2';
  const many = await Promise.all([1, 2, 3].map(() => ask(gateway, 'POST', '/v1/messages')));
  expect(many.map((answer) => answer.status)).toEqual([200, 200, 200]);
  expect(credential.refreshed).toBe(1);
  expect((await slow).body).toContain('message_stop');
});

it('prints how to log in when the credential is missing or cannot be renewed', async () => {
  standIn = await startMessagesApi({ turns: [], accepts: () => false });
  {
    const credential = source('real-1');
    await using gateway = await start(credential);
    // The agent can provoke a 401 as often as it likes; the host is asked once.
    for (let i = 0; i < 3; i += 1) {
      const answer = await ask(gateway, 'POST', '/v1/messages');
      expect(answer.status).toBe(401);
      expect(answer.body).toContain('Log in on the host');
    }
    expect(credential.refreshed).toBe(1);
    expect(gateway.events).toContainEqual(expect.objectContaining({ level: 'error' }));
  }
  await using none = await start(undefined);
  const answer = await ask(none, 'POST', '/v1/messages');
  expect([answer.status, answer.body]).toEqual([401, expect.stringContaining('there is no login on the host')]);
});

it('stops at the limits of requests and cost, also for concurrent requests, and informs the session', async () => {
  standIn = await startMessagesApi({ turns: [] });
  {
    await using gateway = await start(source('real-1'), { maxRequests: 2 });
    const many = await Promise.all([1, 2, 3, 4].map(() => ask(gateway, 'POST', '/v1/messages')));
    expect(many.map((answer) => answer.status).sort()).toEqual([200, 200, 403, 403]);
    expect(await gateway.kept.exceeded).toContain('limit of 2 requests');
  }
  {
    await using gateway = await start(source('real-1'), { maxRequests: 2 });
    expect((await ask(gateway, 'POST', '/v1/messages/count_tokens')).status).toBe(200);
    // The stand-in lists no models, but it was asked.
    expect((await ask(gateway, 'GET', '/v1/models')).status).not.toBe(403);
    expect((await ask(gateway, 'POST', '/v1/messages/count_tokens')).status).toBe(403);
  }
  standIn.turns.push({ inputTokens: 1_000_000, outputTokens: 1 });
  await using gateway = await start(source('real-1'), { maxCostUsd: 1 });
  expect((await ask(gateway, 'POST', '/v1/messages')).status).toBe(200);
  await expect
    .poll(async () => (await ask(gateway, 'POST', '/v1/messages')).body)
    .toContain('budget of $1.00 is used up');
});

it('counts the response of a client that leaves before its end', async () => {
  standIn = await startMessagesApi({ turns: [{ text: 'many words '.repeat(200), delayMs: 50 }] });
  await using gateway = await start(source('real-1'));
  await new Promise<void>((done) => {
    const socketPath = path.join(gateway.dir, 'api.sock');
    const out = request({ socketPath, method: 'POST', path: '/v1/messages' }, (answer) => {
      let got = 0;
      answer.on('data', (chunk) => {
        got += chunk.length;
        if (got > 3000) out.destroy();
      });
      answer.on('error', () => undefined).on('close', () => done());
    });
    out.on('error', () => undefined);
    out.end(JSON.stringify(TURN));
  });
  await expect.poll(() => gateway.kept.usage().outputTokens).toBeGreaterThan(50);
  expect(gateway.kept.usage().costUsd).toBeGreaterThan(0);
});

it('is restarted when it is killed, and continues with its totals and rules', async () => {
  standIn = await startMessagesApi({ turns: [] });
  await using gateway = await start(source('real-1'), { rules: [] });
  expect((await ask(gateway, 'POST', '/v1/messages')).status).toBe(200);
  await expect.poll(() => gateway.kept.usage().requests).toBe(1);
  process.kill(Number(gateway.pids[0]), 'SIGKILL');
  await expect
    .poll(() =>
      ask(gateway, 'POST', '/v1/messages').then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(200);
  await expect.poll(() => gateway.kept.usage().requests).toBe(2);
  expect(gateway.pids).toHaveLength(2);
});

it('returns an ordinary error when the provider is down, and ends with its CLI', async () => {
  standIn = await startMessagesApi({ turns: [] });
  await using gateway = await start(source('real-1'));
  await standIn.close();
  expect((await ask(gateway, 'POST', '/v1/messages')).status).toBe(502);
  const pid = Number(gateway.pids[0]);
  await gateway.kept.stop();
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});

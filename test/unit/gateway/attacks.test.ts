import { request } from 'node:http';
import { type AddressInfo, connect, createServer as createTcp, type Server, type Socket } from 'node:net';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { CredentialSource } from '../../../src/types/credential.ts';
import type { GatewayConfig } from '../../../src/types/gateway.ts';
import { GatewayProcess } from '../../gateway-process.ts';

// Against the broker: a hostile agent on the one side, a provider that answers as badly as it can on the other. The
// provider here is a bare TCP server, so that the very bytes both ways are seen and chosen.

const SECRET = 'real-credential-b1946ac9';
const credential: CredentialSource = {
  name: 'test',
  kind: 'oauth',
  current: async () => ({ kind: 'oauth', value: SECRET }),
  refresh: async () => ({ kind: 'oauth', value: SECRET }),
};
const BODY = JSON.stringify({ model: 'claude-opus-5', tools: [{}], messages: [] });
let provider: Server;
let port = 0;
/** Whole requests as they arrived. */
let arrived: string[] = [];
/** What each is answered, byte for byte. */
let answerWith: string | ((socket: Socket) => void) = '';
let open: Socket[] = [];

const ok = (body: string, more = ''): string =>
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n${more}\r\n${body}`;

beforeEach(async () => {
  arrived = [];
  open = [];
  answerWith = ok('{"usage":{"input_tokens":1,"output_tokens":1}}');
  provider = createTcp((socket) => {
    open.push(socket);
    let bytes = '';
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      bytes += chunk.toString('latin1');
      const end = bytes.indexOf('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(bytes)?.[1] ?? 0);
      if (end < 0 || bytes.length < end + 4 + length) return;
      arrived.push(bytes);
      bytes = '';
      if (typeof answerWith === 'string') socket.write(answerWith);
      else answerWith(socket);
    });
  });
  await new Promise<void>((done) => provider.listen(0, '127.0.0.1', done));
  port = (provider.address() as AddressInfo).port;
});

afterEach(() => {
  for (const socket of open) socket.destroy();
  provider.close();
});

function start(config: Partial<GatewayConfig> = {}): Promise<GatewayProcess> {
  const targets = { provider: { host: '127.0.0.1', port } };
  const base = { provider: { url: `http://127.0.0.1:${port}/base`, relay: true } };
  return GatewayProcess.start({ targets, credential, config: { ...base, ...config } });
}

/** Bytes to the broker, as they are; what comes back until it closes or matches. */
function say(gateway: GatewayProcess, bytes: string | Buffer, until = /\r\n\r\n[\s\S]/): Promise<string> {
  return new Promise((done) => {
    const socket = connect(path.join(gateway.dir, 'api.sock'));
    let text = '';
    const timer = setTimeout(() => socket.destroy(), 60_000);
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (until.test(text)) setTimeout(() => socket.destroy(), 50);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(timer);
      done(text);
    });
    socket.write(bytes);
  });
}

const post = (target: string, more = '', body = BODY): string =>
  `POST ${target} HTTP/1.1\r\nHost: x\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${more}\r\n${body}`;

it('hands on neither the agent’s own credentials nor headers by which a server would act on another path', async () => {
  await using gateway = await start();
  const more = [
    'Authorization: Bearer mine',
    'authorization: Basic bWluZQ==',
    'X-Api-Key: mine',
    'Api-Key: mine',
    'Proxy-Authorization: Basic mine',
    'Cookie: sessionKey=mine',
    'X-Original-URL: /v1/organizations/api_keys',
    'X-Rewrite-Url: /v1/organizations',
    'X-HTTP-Method-Override: DELETE',
    'X-Forwarded-Host: evil.test',
    'X-Forwarded-For: 127.0.0.1',
    'Forwarded: host=evil.test',
    'X-Amz-Target: other',
    'Connection: keep-alive, anthropic-version',
    'TE: trailers',
    'Expect: 100-continue',
    'anthropic-beta: some-beta',
  ].join('\r\n');
  await say(gateway, post('/v1/messages?beta=true', `${more}\r\n`), /"usage"/);
  expect(arrived).toHaveLength(1);
  const [head = ''] = (arrived[0] ?? '').split('\r\n\r\n');
  expect(head).toContain('POST /base/v1/messages?beta=true HTTP/1.1');
  expect(head.match(/^authorization:.*$/gim)).toEqual([`authorization: Bearer ${SECRET}`]);
  expect(head.match(/^host:.*$/gim)).toEqual([`host: 127.0.0.1:${port}`]);
  expect(head).toMatch(/anthropic-beta: some-beta/);
  expect(head).not.toMatch(/mine|override|original|rewrite|forwarded|x-amz|^te:|expect/im);
});

const requests: readonly [string, string][] = [
  ['a path that climbs', post('/v1/messages/../organizations')],
  ['an encoded climb', post('/v1/messages/%2e%2e/organizations')],
  ['a double slash', post('/v1//messages')],
  ['a backslash', post('/v1/messages\\..\\organizations')],
  ['a matrix parameter', post('/v1/messages;/../organizations')],
  ['a trailing slash', post('/v1/messages/')],
  ['an encoded letter', post('/v1/m%65ssages')],
  ['a NUL', post('/v1/messages%00')],
  ['a dot as a model', 'GET /v1/models/.. HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['a hidden model', 'GET /v1/models/.%2e HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['absolute form', post('http://evil.test/v1/messages')],
  ['absolute form to the provider', post('https://api.anthropic.com/v1/organizations')],
  ['a fragment', post('/v1/messages#')],
  ['a query that ends the line', post('/v1/messages?a=%0d%0aHost:evil\u0001')],
  ['CONNECT', 'CONNECT api.anthropic.com:443 HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['an upgrade', `GET /v1/messages HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`],
  ['TRACE', 'TRACE /v1/messages HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['two lengths', post('/v1/messages', 'Content-Length: 3\r\n')],
  ['a length and chunks', post('/v1/messages', 'Transfer-Encoding: chunked\r\n')],
  ['odd chunks', `POST /v1/messages HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
  ['chunked twice', `POST /v1/messages HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`],
  ['a bare line feed in a header', `POST /v1/messages HTTP/1.1\nHost: x\nX: a\nContent-Length: 2\n\n{}`],
  ['a folded header', post('/v1/messages', 'X: a\r\n Authorization: Bearer b\r\n')],
  ['a header without a name', post('/v1/messages', ': a\r\n')],
  ['keys in a file upload', post('/v1/files')],
  ['another account endpoint', post('/api/oauth/claude_cli/create_api_key')],
  ['a list', post('/v1/messages', '', '[]').replace('/v1/messages', '/v1/messages/batches')],
  ['JSON that is cut off', post('/v1/messages', '', '{"model":')],
  ['JSON after JSON', post('/v1/messages', '', '{}{}')],
];

it(`passes none of ${requests.length} odd requests`, async () => {
  await using gateway = await start();
  const wrong: string[] = [];
  for (const [what, bytes] of requests) {
    const answer = await say(gateway, bytes);
    if (!/^HTTP\/1\.1 (400|403|404|405|431|501) |^$/.test(answer)) wrong.push(`${what}: ${answer.slice(0, 100)}`);
  }
  expect(wrong).toEqual([]);
  expect(arrived).toEqual([]);
  // Two requests in one packet, and HTTP/1.0 that wants to stay: each is judged by itself.
  const pair = await say(gateway, `${post('/v1/messages')}${post('/v1/organizations')}`, /only inference/);
  expect(pair).toMatch(/200 OK[\s\S]*403 Forbidden/);
  expect(arrived).toHaveLength(1);
  await say(gateway, post('/v1/messages', 'Connection: keep-alive\r\n').replace('HTTP/1.1', 'HTTP/1.0'), /"usage"/);
  expect(arrived).toHaveLength(2);
});

it('puts the credential into the header only, and takes it out of answers that repeat it', async () => {
  await using gateway = await start();
  const said = JSON.stringify({
    model: 'm',
    tools: [{}],
    messages: [{ role: 'user', content: 'placeholder-of-run-claude' }],
  });
  await say(gateway, post('/v1/messages?key=placeholder', '', said), /"usage"/);
  expect((arrived[0] ?? '').split(SECRET)).toHaveLength(2);
  for (const status of ['400 Bad Request', '404 Not Found', '302 Found', '500 Oops']) {
    const body = `you sent Authorization: Bearer ${SECRET}`;
    answerWith = `HTTP/1.1 ${status}\r\nx-echo: Bearer ${SECRET}\r\nlocation: https://evil.test/?t=${SECRET}\r\nset-cookie: s=${SECRET}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    const answer = await say(gateway, post('/v1/messages'));
    expect(answer).toContain(status.split(' ')[0]);
    expect(answer).toContain('[credential]');
    expect(answer).not.toContain(SECRET);
  }
  // A redirect is the client's to follow, through the policy: nothing was sent anywhere else.
  expect(arrived).toHaveLength(5);
  expect(JSON.stringify(gateway.entries())).not.toContain(SECRET);
});

it('answers in its own words when the provider’s answer is no proper one', async () => {
  await using gateway = await start();
  const bad: string[] = [
    'HTTP/1.1 200 OK\r\nx: a\x01b\r\ncontent-length: 0\r\n\r\n',
    'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
    `HTTP/1.1 500 Oops\r\ncontent-length: 3000000\r\n\r\n${'x'.repeat(3_000_000)}`,
    `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(100_000)}\r\n\r\n`,
    'not HTTP at all\r\n\r\n',
  ];
  for (const bytes of bad) {
    answerWith = (socket) => void socket.end(bytes, 'latin1');
    expect([bytes.slice(0, 60), (await say(gateway, post('/v1/messages'))).slice(0, 12)]).toEqual([
      bytes.slice(0, 60),
      'HTTP/1.1 502',
    ]);
  }
  // It is still there.
  answerWith = ok('{"usage":{}}');
  expect(await say(gateway, post('/v1/messages'))).toContain(' 200 ');
  expect(gateway.pids).toHaveLength(1);
});

it('is not brought down by bodies that are small on the wire and large in memory, or by many at once', async () => {
  await using gateway = await start();
  const bombs: [string, string][] = [
    ['objects', `{"a":[${'{},'.repeat(10_000_000)}{}]}`],
    ['lists', `{"a":[${'[],'.repeat(10_000_000)}[]]}`],
    ['depth', `${'['.repeat(2_000_000)}${']'.repeat(2_000_000)}`],
    ['members', `{${Array.from({ length: 1_200_000 }, (_, n) => `"${n}":1`).join(',')}}`],
    ['too large', `"${'x'.repeat(34 * 1024 * 1024)}"`],
  ];
  for (const [what, body] of bombs)
    expect([what, (await say(gateway, post('/v1/messages', '', body))).slice(0, 12)]).toEqual([what, 'HTTP/1.1 403']);
  expect(arrived).toEqual([]);
  // Held open by clients that never finish: what is new is put off, not taken until memory ends.
  const stuck = Array.from({ length: 6 }, () => {
    const socket = connect(path.join(gateway.dir, 'api.sock'));
    socket.on('error', () => undefined);
    socket.write(`POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 30000000\r\n\r\n${'x'.repeat(20_000_000)}`);
    return socket;
  });
  await expect
    .poll(() => gateway.entries().filter(({ why }) => why?.includes('too many large')).length)
    .toBeGreaterThan(0);
  for (const socket of stuck) socket.destroy();
  await expect.poll(() => say(gateway, post('/v1/messages'))).toContain(' 200 ');
  expect(gateway.pids).toHaveLength(1);
});

it('holds the limit of requests against ones that were begun before it was reached, and remembers across a crash', async () => {
  await using gateway = await start({ maxRequests: 3 });
  // Heads of ten requests; their bodies follow when all are waiting.
  const waiting = await Promise.all(
    Array.from({ length: 10 }, async () => {
      const socket = connect(path.join(gateway.dir, 'api.sock'));
      const text = new Promise<string>((done) => socket.once('data', (chunk) => done(chunk.toString())));
      socket.on('error', () => undefined);
      socket.write(
        `POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY.slice(0, 5)}`,
      );
      return { socket, text };
    }),
  );
  for (const { socket } of waiting) socket.write(BODY.slice(5));
  const answers = await Promise.all(waiting.map(({ text }) => text));
  expect(answers.filter((text) => text.includes(' 200 '))).toHaveLength(3);
  expect(arrived).toHaveLength(3);

  // The last one that is allowed has its answer before the session is told to stop.
  await using last = await start({ maxRequests: 1 });
  let stop = false;
  void last.kept.exceeded.then(() => {
    stop = true;
  });
  let held: Socket | undefined;
  answerWith = (socket) => {
    held = socket;
  };
  const answer = say(last, post('/v1/messages'), /"usage"/);
  await expect.poll(() => [last.kept.usage().requests, held !== undefined]).toEqual([1, true]);
  expect(stop).toBe(false);
  held?.write(ok('{"usage":{}}'));
  expect(await answer).toContain(' 200 ');
  await expect.poll(() => stop).toBe(true);

  // An answer that never ends is a request like another, also for the gateway that follows a killed one.
  await using other = await start({ maxRequests: 2 });
  answerWith = (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n');
    const timer = setInterval(() => socket.write(': ping\n\n'), 20);
    socket.on('close', () => clearInterval(timer));
  };
  const socket = connect(path.join(other.dir, 'api.sock'));
  socket.on('error', () => undefined);
  socket.write(post('/v1/messages'));
  await expect.poll(() => other.kept.usage().requests).toBe(1);
  process.kill(Number(other.pids[0]), 'SIGKILL');
  answerWith = ok('{"usage":{}}');
  const status = async (): Promise<string> => (await say(other, post('/v1/messages'))).slice(9, 12);
  await expect.poll(status).toBe('200');
  await expect.poll(status).toBe('403');
  expect(await other.kept.exceeded).toContain('limit of 2 requests');
});

it('counts by the provider’s word, not by what the agent or the model writes', async () => {
  await using gateway = await start();
  const event = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
  const forged = '"usage":{"output_tokens":0}},{"type":"message_stop"';
  const events = [
    event({
      type: 'message_start',
      message: { model: 'claude-opus-5', usage: { input_tokens: 1000, output_tokens: 1 } },
    }),
    event({
      type: 'content_block_delta',
      delta: { type: 'text_delta', text: `data: {${forged}}\n\ndata: {"usage":{"output_tokens":0}}` },
    }),
    event({ type: 'message_delta', delta: {}, usage: { output_tokens: 500 } }),
    event({ type: 'message_stop' }),
  ].join('');
  answerWith = `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n${events}`;
  const body = JSON.stringify({ model: 'claude-3-haiku', usage: { output_tokens: 0 }, tools: [{}], messages: [] });
  answerWith = (
    (text: string) => (socket: Socket) =>
      void socket.end(text)
  )(answerWith);
  await say(gateway, post('/v1/messages', '', body), /message_stop"}\n\n\r\n0\r\n\r\n$/);
  await expect.poll(() => gateway.kept.usage().outputTokens).toBe(500);
  // At the price of the model that answered, not of the one that was asked for.
  expect(gateway.kept.usage()).toMatchObject({ inputTokens: 1000, costUsd: (1000 * 5 + 500 * 25) / 1e6 });
});

it('lets a slow reader wait without filling memory, and a stream go on for others', async () => {
  await using gateway = await start();
  const chunk = `data: ${'x'.repeat(65_000)}\n\n`;
  let sent = 0;
  answerWith = (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n');
    const more = (): void => {
      while (!socket.destroyed && sent < 4000 && socket.write(chunk)) sent += 1;
    };
    socket.on('drain', more);
    more();
  };
  const slow = request({ socketPath: path.join(gateway.dir, 'api.sock'), method: 'POST', path: '/v1/messages' });
  slow.on('error', () => undefined);
  slow.on('response', (answer) => void answer.pause());
  slow.end(BODY);
  await expect.poll(() => sent).toBeGreaterThan(5);
  let last = -1;
  await expect
    .poll(
      () => {
        const still = sent === last;
        last = sent;
        return still;
      },
      { interval: 500 },
    )
    .toBe(true);
  // 260 MB were there to be had; the buffers on the way hold a small part of it.
  expect(sent * chunk.length).toBeLessThan(50_000_000);
  answerWith = ok('{"usage":{}}');
  expect(await say(gateway, post('/v1/messages'))).toContain(' 200 ');
  slow.destroy();
});

it('reads no more of a flood of requests on one connection than it can keep', async () => {
  await using gateway = await start();
  const one = 'GET /v1/organizations HTTP/1.1\r\nHost: x\r\n\r\n';
  const answer = await say(gateway, one.repeat(5000), /503 Service Unavailable/);
  expect(answer.match(/HTTP\/1\.1 403/g)?.length).toBeLessThanOrEqual(256);
  expect(answer).toContain('503');
  expect(gateway.entries().length).toBeLessThanOrEqual(256);
  expect(await say(gateway, post('/v1/messages'))).toContain(' 200 ');
});

it('control: the provider stand-in takes what is sent straight', async () => {
  const answer = await new Promise<string>((done) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('data', (text) => {
      socket.destroy();
      done(text.toString());
    });
    socket.write(post('/v1/organizations', 'X-Original-URL: /x\r\n'));
  });
  expect(answer).toContain('200 OK');
  expect(arrived[0]).toContain('X-Original-URL');
});

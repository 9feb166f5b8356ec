import { request } from 'node:http';
import { type AddressInfo, connect, createServer as createTcp, type Server, type Socket } from 'node:net';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Secret } from '../../../../src/core/types/agent/credential.ts';
import type { GatewayConfig } from '../../../../src/core/types/gateway.ts';
import { fixedCredential, GatewayProcess } from '../../../support/gateway-process.ts';

// Against the broker: a hostile agent on the one side, a provider that answers as badly as it can on the other. The
// provider here is a bare TCP server, so that the very bytes both ways are seen and chosen.

const SECRET = 'real-credential-b1946ac9';
const credential = fixedCredential(SECRET);
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

it('forwards neither the agent’s own credentials nor headers that make a server use another path', async () => {
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
    'X_Api_Key: mine',
    'Proxy_Authorization: Basic mine',
    'X_Original_Url: /v1/files',
    'X_HTTP_Method-Override: DELETE',
    'X-Goog-Api-Key: mine',
    'X-Litellm-Api-Key: mine',
    'X-Portkey-Api-Key: mine',
    'Cf-Aig-Authorization: mine',
    'Helicone-Auth: mine',
    'X_Auth_Token: mine',
    'OpenAI-Organization: mine',
    'Accept_Encoding: gzip, mine',
    'Content_Length: 1',
    'Transfer_Encoding: mine',
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
  // Nor the content of trailers or of a chunk's extension. A Connection header cannot remove what frames the message.
  const listed = 'Connection: host, content-length, authorization, accept-encoding, close\r\n';
  const chunks = `${BODY.length.toString(16)};name="mine"\r\n${BODY}\r\n0\r\nAuthorization: Bearer mine\r\nHost: mine\r\n\r\n`;
  await say(
    gateway,
    `POST /v1/messages HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n${listed}\r\n${chunks}`,
    /"usage"/,
  );
  await say(gateway, post('/v1/messages', listed), /"usage"/);
  expect(arrived).toHaveLength(3);
  for (const bytes of arrived.slice(1)) {
    expect(bytes).toMatch(new RegExp(`^host: 127.0.0.1:${port}\r$[\\s\\S]*^content-length: ${BODY.length}\r$`, 'im'));
    expect(bytes).toMatch(new RegExp(`^authorization: Bearer ${SECRET}\r$`, 'im'));
    expect(bytes.endsWith(`\r\n\r\n${BODY}`)).toBe(true);
    expect(bytes).not.toContain('mine');
  }
});

it('makes the provider fetch only from the address that was checked', async () => {
  await using gateway = await start({ rules: [{ host: 'good.test', from: 'test' }] });
  const fetched = async (url: string): Promise<unknown> => {
    arrived = [];
    const body = JSON.stringify({ model: 'm', ...image({ type: 'url', url }) });
    const answer = await say(gateway, post('/v1/messages', '', body));
    if (!answer.includes(' 200 ')) return answer.slice(9, 12);
    return JSON.parse(String(arrived[0]).split('\r\n\r\n')[1] ?? '').messages[0].content[0].source.url;
  };
  // What other readers take for a host of its own comes out where it can't be taken for one.
  expect(await fetched('https://good.test\\@evil.test/x')).toBe('https://good.test/@evil.test/x');
  expect(await fetched('https:good.test/x')).toBe('https://good.test/x');
  expect(await fetched('https:\\\\good.test\\..\\x')).toBe('https://good.test/x');
  expect(await fetched(' https://go\tod.test#@evil.test')).toBe('https://good.test/#@evil.test');
  expect(await fetched('https://ＧＯＯＤ.test/')).toBe('https://good.test/');
  for (const url of [
    'https://good.test.evil.test/',
    'https://evil.test\\@good.test/',
    'https://good.test:8443/',
    '//good.test/',
  ])
    expect([url, await fetched(url)]).toEqual([url, '403']);
});

const inMessage = (block: object): object => ({ messages: [{ role: 'user', content: [block] }] });
const image = (source: unknown): object => inMessage({ type: 'image', source });
/** What the provider would be asked to fetch; '#u' stands for the start of an escape. */
const fetches: readonly [string, object][] = [
  ['an image', image({ type: 'url', url: 'https://evil.test/' })],
  [
    'an image in a tool’s result',
    inMessage({ type: 'tool_result', content: [{ source: { type: 'url', url: 'http://evil.test' } }] }),
  ],
  [
    'a document in the system prompt',
    { system: [{ type: 'document', source: { type: 'url', url: 'https://evil.test' } }] },
  ],
  ['an escaped type', image({ type: '#u0075rl', url: 'https://evil.test/' })],
  ['an escaped key', { 'mcp#u005fservers': [{ url: 'https://evil.test' }] }],
  ['a source without a type', image({ url: 'https://evil.test/' })],
  ['a type in capitals', image({ type: 'URL', url: 'https://evil.test/' })],
  ['a list of addresses', image({ type: 'url', url: ['https://evil.test/'] })],
  ['an address with user information', image({ type: 'url', url: 'https://good.test@evil.test/' })],
  ['another scheme', image({ type: 'url', url: 'file:///etc/passwd' })],
  ['an address in numbers', image({ type: 'url', url: 'http://2130706433/' })],
  ['MCP servers', { mcp_servers: [{ type: 'url', url: 'https://evil.test' }] }],
  ['MCP servers as an object', { mcp_servers: { a: { url: 'https://evil.test' } } }],
  ['web_fetch', { tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }] }],
  ['web_fetch in capitals', { tools: [{ type: 'Web_Fetch_20250910', name: 'web_fetch' }] }],
];

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
  ['upper case', post('/V1/Messages')],
  ['an encoded slash', post('/v1%2fmessages')],
  ['an encoded slash to a neighbour', post('/v1/messages%2fbatches')],
  ['a double encoding', post('/v1/messages/%252e%252e/files')],
  ['an encoded question mark', post('/v1/messages%3fbeta=true')],
  ['an encoded blank at the end', post('/v1/messages%20')],
  ['a dot in between', post('/v1/./messages')],
  ['a dot in front', post('/./v1/messages')],
  ['two slashes in front, a host for some', post('//v1/messages')],
  ['no slash in front', post('v1/messages')],
  ['an asterisk', post('*')],
  ['a path parameter', post('/v1/messages;v=1')],
  ['a query that hides a path', post('/v1/messages?/../../v1/files')],
  ['a query in brackets', post('/v1/messages?a[]=1')],
  ['a long query', post(`/v1/messages?${'a'.repeat(300)}`)],
  ['a climb behind a model', 'GET /v1/models/x/../../organizations HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['an encoded climb behind a model', 'GET /v1/models/x%2f..%2f..%2forganizations HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['batches', post('/v1/messages/batches')],
  ['the older completions', post('/v1/complete')],
  ['skills', post('/v1/skills')],
  ['the files', 'GET /v1/files HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['the usage reports', 'GET /v1/organizations/usage_report/messages HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['a profile', 'GET /api/oauth/profile HTTP/1.1\r\nHost: x\r\n\r\n'],
  ...['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'PURGE', 'GET', 'HEAD'].map((method): [string, string] => [
    `${method} where a POST belongs`,
    post('/v1/messages').replace('POST', method),
  ]),
  ['a POST to the models', post('/v1/models')],
  ['a method that nobody knows', post('/v1/messages').replace('POST', 'STEAL')],
  ['a method in lower case', post('/v1/messages').replace('POST', 'post')],
  ['HTTP/3 in words', post('/v1/messages').replace('HTTP/1.1', 'HTTP/3.0')],
  ['HTTP/2 by prior knowledge', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['a bare carriage return in a header', post('/v1/messages', 'X: a\rAuthorization: Bearer b\r\n')],
  ['a NUL in a header', post('/v1/messages', 'X: a\0b\r\n')],
  ['a blank in a header’s name', post('/v1/messages', 'X Y: a\r\n')],
  ['a blank before the colon', post('/v1/messages', 'Transfer-Encoding : chunked\r\n')],
  ['a length that is a list', post('/v1/messages', 'Content-Length: 5, 5\r\n')],
  ['a length in hexadecimal', 'POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 0x2\r\n\r\n{}'],
  ['a negative length', 'POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: -2\r\n\r\n{}'],
  ['a length past 64 bits', `POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: ${'9'.repeat(30)}\r\n\r\n{}`],
  ...[
    ['a chunk past 64 bits', 'fffffffffffffffff\r\n{}\r\n0\r\n\r\n'],
    ['a chunk with a sign', '+2\r\n{}\r\n0\r\n\r\n'],
    ['a chunk in another base', '0x2\r\n{}\r\n0\r\n\r\n'],
    ['a chunk longer than it says', '2\r\n{}}\r\n0\r\n\r\n'],
    ['a chunk’s end without a line feed', '2\r\n{}\r0\r\n\r\n'],
    ['a chunk’s size ended by a line feed alone', '2\n{}\n0\n\n'],
    ['a chunk whose extension does not end', `2;${'x'.repeat(200_000)}`],
    ['trailers that do not end', `2\r\n{}\r\n0\r\n${'X: y\r\n'.repeat(40_000)}`],
  ].map(([what, chunks]): [string, string] => [
    String(what),
    `POST /v1/messages HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`,
  ]),
  ['a coding with a tab', 'POST /v1/messages HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n'],
  ['codings in two headers', post('/v1/messages', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n')],
  ['chunks for HTTP/1.0', 'POST /v1/messages HTTP/1.0\r\nTransfer-Encoding: identity\r\n\r\n{}'],
  ['a body in another coding, with a length', post('/v1/messages', 'Content-Encoding: gzip\r\n', '\x1f\x8b\b\0')],
  ['a byte order mark', post('/v1/messages', '', '\ufeff{}')],
  ...fetches.map(([what, part]): [string, string] => [
    `fetched by the provider: ${what}`,
    post('/v1/messages', '', JSON.stringify({ model: 'm', ...part }).replaceAll('#u', '\\u')),
  ]),
];

it(`passes none of ${requests.length} odd requests`, async () => {
  await using gateway = await start();
  const wrong: string[] = [];
  for (const [what, bytes] of requests) {
    const answer = await say(gateway, bytes);
    if (!/^HTTP\/1\.1 (400|403|404|405|413|431|501) |^$/.test(answer)) wrong.push(`${what}: ${answer.slice(0, 100)}`);
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

it('forwards a tool’s input and schema unchanged: the provider fetches no URL in them', async () => {
  await using gateway = await start();
  const orders = { mcp_servers: [{}], type: 'url', url: 'https://evil.test/', source: { url: 'https://evil.test/' } };
  const body = JSON.stringify({
    model: 'm',
    tools: [{ name: 't', input_schema: { type: 'object', properties: orders } }],
    ...inMessage({ type: 'tool_use', id: '1', name: 't', input: orders }),
  });
  expect(await say(gateway, post('/v1/messages', '', body), /"usage"/)).toContain(' 200 ');
  expect(arrived[0]?.endsWith(body)).toBe(true);
});

it('retries after a 401 with a credential that arrived in the meantime, without requesting another', async () => {
  const values = ['old', 'new', 'newer'];
  const current = async (): Promise<Secret> => ({ kind: 'oauth', value: String(values[0]) });
  const refresh = (): Promise<Secret> => {
    values.shift();
    return current();
  };
  const targets = { provider: { host: '127.0.0.1', port } };
  await using gateway = await GatewayProcess.start({
    targets,
    credential: { name: 'test', kind: 'oauth', current, refresh },
    config: { provider: { url: `http://127.0.0.1:${port}`, relay: true } },
  });
  const refused = 'HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n';
  let held: Socket | undefined;
  answerWith = (socket) => {
    const bytes = arrived.at(-1) ?? '';
    if (bytes.includes('Bearer new')) socket.write(ok('{"usage":{}}'));
    else if (bytes.includes('slow')) held = socket;
    else socket.write(refused);
  };
  const slow = say(gateway, post('/v1/messages', '', '{"model":"slow"}'));
  await expect.poll(() => held !== undefined).toBe(true);
  expect(await say(gateway, post('/v1/messages', '', '{"model":"quick"}'))).toContain(' 200 ');
  held?.write(refused);
  expect(await slow).toContain(' 200 ');
  expect(values).toEqual(['new', 'newer']);
});

it('adds the credential only to the header, and removes it from responses that repeat it', async () => {
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

it('forwards no error response in an encoding that it cannot search for the credential', async () => {
  await using gateway = await start();
  const body = gzipSync(`you sent ${SECRET}`).toString('latin1');
  answerWith = (socket) =>
    void socket.write(
      `HTTP/1.1 400 Bad Request\r\ncontent-encoding: gzip\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      'latin1',
    );
  const answer = await say(gateway, post('/v1/messages'));
  expect(answer).toMatch(/ 502 [\s\S]*it answered 400 in an encoding that was not requested/);
  expect(answer).not.toContain('\x1f\x8b');
});

it('responds with its own error when the provider’s response is not valid', async () => {
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

it('survives compressed bodies that are large in memory, and many of them at once', async () => {
  await using gateway = await start();
  const bombs: [string, string][] = [
    ['objects', `{"a":[${'{},'.repeat(10_000_000)}{}]}`],
    ['lists', `{"a":[${'[],'.repeat(10_000_000)}[]]}`],
    ['depth', `${'['.repeat(2_000_000)}${']'.repeat(2_000_000)}`],
    ['depth in few parts', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
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

it('applies the limit of requests to requests in flight, and remembers the count across a crash', async () => {
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
  // A refused request does not count for the session.
  await expect.poll(() => gateway.entries().filter(({ why }) => why?.includes('limit of 3')).length).toBe(7);
  expect(gateway.kept.usage().requests).toBe(3);

  // The last allowed request has its answer before the session is stopped.
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

it('counts usage that the provider reports, not what the agent or the model writes', async () => {
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

it('counts and releases a response that is queued behind another one on a closed connection', async () => {
  const limits = { connections: 64, bytesPerConnection: 1 << 30, headMs: 5000, connectMs: 5000, idleMs: 60_000 };
  await using gateway = await start({ limits: { ...limits, readOnMs: 300 } });
  const closed: string[] = [];
  let begun = 0;
  answerWith = (socket) => {
    const model = /"model":"(\w+)"/.exec(arrived.at(-1) ?? '')?.[1] ?? '';
    socket.on('close', () => closed.push(model));
    begun += 1;
    if (model === 'first') return;
    const event = {
      type: 'message_start',
      message: { model: 'claude-opus-5', usage: { input_tokens: 7, output_tokens: 1 } },
    };
    socket.write(`HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: ${JSON.stringify(event)}\n\n`);
    socket.write(`data: {"type":"content_block_delta","delta":{"text":"${'x'.repeat(300_000)}"}}\n\n`.repeat(20));
  };
  const body = (model: string): string => JSON.stringify({ model, messages: [] });
  const socket = connect(path.join(gateway.dir, 'api.sock'));
  socket.on('error', () => undefined);
  socket.write(`${post('/v1/messages', '', body('first'))}${post('/v1/messages', '', body('second'))}`);
  await expect.poll(() => begun).toBe(2);
  socket.destroy();
  await expect.poll(() => closed.sort()).toEqual(['first', 'second']);
  // By the provider's count, or by what was asked: 7 or 8 for the second, 8 for the one that had no answer yet.
  await expect.poll(() => gateway.kept.usage().inputTokens).toBeGreaterThanOrEqual(15);
  expect(gateway.kept.usage().requests).toBe(2);
});

it('counts a complete response by its own usage, even if the client leaves before its end', async () => {
  await using gateway = await start();
  const whole = ok(
    JSON.stringify({
      model: 'claude-opus-5',
      content: 'x'.repeat(200),
      usage: { input_tokens: 5, output_tokens: 4321 },
    }),
  );
  let held: Socket | undefined;
  answerWith = (socket) => {
    held = socket;
    socket.write(whole.slice(0, 150));
  };
  await say(gateway, post('/v1/messages'), /200 OK/);
  await expect.poll(() => held !== undefined).toBe(true);
  held?.write(whole.slice(150));
  await expect.poll(() => gateway.kept.usage().outputTokens).toBe(4321);
});

it('slows down for a slow reader without filling memory, while other streams continue', async () => {
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

it('stops reading a flood of requests on one connection at its limit', async () => {
  await using gateway = await start();
  const one = 'GET /v1/organizations HTTP/1.1\r\nHost: x\r\n\r\n';
  const answer = await say(gateway, one.repeat(5000), /503 Service Unavailable/);
  expect(answer.match(/HTTP\/1\.1 403/g)?.length).toBeLessThanOrEqual(256);
  expect(answer).toContain('503');
  expect(gateway.entries().length).toBeLessThanOrEqual(256);
  expect(await say(gateway, post('/v1/messages'))).toContain(' 200 ');
});

it('limits concurrent requests, refuses the rest for now, and does not wait for a handshake that never comes', async () => {
  const limits = { connections: 5, bytesPerConnection: 1 << 30, headMs: 15_000, connectMs: 20_000, idleMs: 60_000 };
  {
    await using gateway = await start({ limits });
    const held: Socket[] = [];
    answerWith = (socket) => void held.push(socket);
    // On one connection, where the limit of connections says nothing.
    const answer = say(gateway, post('/v1/messages').repeat(8), /(503[\s\S]*){3}at once"/);
    await expect.poll(() => gateway.entries().filter(({ why }) => why === 'too many requests at once').length).toBe(3);
    await expect.poll(() => held.length).toBe(5);
    for (const socket of held) socket.write(ok('{"usage":{}}'));
    expect((await answer).match(/HTTP\/1\.1 (200|503)/g)?.map((line) => line.slice(9))).toEqual([
      ...Array.from({ length: 5 }, () => '200'),
      ...Array.from({ length: 3 }, () => '503'),
    ]);
    answerWith = ok('{"usage":{}}');
    expect(await say(gateway, post('/v1/messages'))).toContain(' 200 ');
  }
  const impatient = { ...limits, connectMs: 500 };
  await using mute = await start({ limits: impatient, provider: { url: `https://127.0.0.1:${port}`, relay: true } });
  expect(await say(mute, post('/v1/messages'))).toMatch(/ 502 [\s\S]*no TLS handshake in 0.5 s/);
});

it('control: the stand-in provider accepts the same requests sent directly', async () => {
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

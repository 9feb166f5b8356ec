import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import https from 'node:https';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type LoginOptions, logIn, type ShownLogin } from '../../../../src/agents/mcp-login/log-in.ts';
import type { McpLogin } from '../../../../src/agents/mcp-login/login-store.ts';
import type { RunClaudeError } from '../../../../src/core/errors.ts';
import { type McpOAuth, startMcpOAuth } from '../../../support/stand-in/mcp-oauth.ts';

// A login to an MCP server against a stand-in of it and of its authorization server, each of them hostile in turn.

const LOOPBACK = ['127.0.0.0/8', '::1/128'];
let dir: string;
let standIn: McpOAuth;
const before = https.globalAgent.options.ca;

beforeAll(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-mcp-oauth-'));
});

beforeEach(async () => {
  standIn = await startMcpOAuth({ dir });
  https.globalAgent.options.ca = standIn.ca;
});

afterEach(() => standIn[Symbol.asyncDispose]());

afterAll(() => {
  if (before === undefined) delete https.globalAgent.options.ca;
  else https.globalAgent.options.ca = before;
  rmSync(dir, { recursive: true, force: true });
});

/** What a browser does: the authorization server sends it to the page on loopback. */
async function browse({ address }: ShownLogin): Promise<void> {
  const back = await redirectOf(address);
  expect(await statusOf(back)).toBe(200);
}

const redirectOf = (address: string): Promise<string> =>
  new Promise((done, refuse) => {
    https.get(address, (answer) => done(String(answer.headers.location))).on('error', refuse);
  });

const statusOf = (address: string, headers: Record<string, string> = {}): Promise<number> =>
  new Promise((done, refuse) => {
    request(address, { headers }, (answer) => {
      answer.resume();
      done(answer.statusCode ?? 0);
    })
      .on('error', refuse)
      .end();
  });

function login(
  options: Partial<LoginOptions> = {},
  asking: { allowAddresses?: readonly string[]; timeoutMs?: number } = {},
): Promise<McpLogin> {
  return logIn(
    {
      server: `${standIn.server}/mcp`,
      clientId: undefined,
      scopes: undefined,
      show: browse,
      signal: new AbortController().signal,
      ...options,
    },
    { env: {}, allowAddresses: LOOPBACK, ...asking },
  );
}

async function errorOf(run: Promise<unknown>): Promise<string> {
  const error = await run.then(
    () => undefined,
    (reason: RunClaudeError) => reason,
  );
  return `${error?.code} ${error?.message}`;
}

describe('a login', () => {
  it('gets a token for this server alone, with PKCE, as a client that registered itself', async () => {
    let shown: ShownLogin | undefined;
    const stored = await login({
      show: (one) => {
        shown = one;
        return browse(one);
      },
    });
    expect(stored).toMatchObject({ access: standIn.token, refresh: standIn.refreshToken, issuer: standIn.issuer });
    expect(stored).toMatchObject({ server: `${standIn.server}/mcp`, resource: `${standIn.server}/mcp` });
    expect((stored.expiresMs ?? 0) - Date.now()).toBeGreaterThan(3_500_000);
    const query = new URL(shown?.address ?? '').searchParams;
    expect(query.get('redirect_uri')).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    expect([query.get('scope'), query.get('code_challenge_method')]).toEqual(['read', 'S256']);
    expect(query.get('resource')).toBe(`${standIn.server}/mcp`);
  });

  it('uses the client and the scopes that the user names', async () => {
    let address = '';
    const show = (one: ShownLogin): Promise<void> => {
      address = one.address;
      return browse(one);
    };
    expect((await login({ clientId: 'by-hand', scopes: ['a', 'b'], show })).client).toEqual({
      id: 'by-hand',
      method: 'none',
    });
    expect(new URL(address).searchParams.get('scope')).toBe('a b');
    expect(standIn.asked).not.toContain('POST issuer /register');
  });

  it('finds the metadata without a word of the server, and servers that give out their tokens themselves', async () => {
    standIn.challenge = 'Bearer';
    expect((await login()).issuer).toBe(standIn.issuer);
    standIn.answers.set('server /.well-known/oauth-protected-resource/mcp', (response) =>
      response.writeHead(404).end(),
    );
    standIn.token = '';
    expect(await errorOf(login())).toMatch(/MCP_LOGIN_FAILED localhost:\d+ has no metadata of an authorization server/);
    expect(standIn.asked).toContain('GET server /.well-known/oauth-authorization-server');
  });

  it('takes the answer once, with its own state, under its own name', async () => {
    const seen: number[] = [];
    const show = async ({ address, port }: ShownLogin): Promise<void> => {
      const right = await redirectOf(address);
      const wrong = new URL(right);
      wrong.searchParams.set('state', 'x'.repeat(43));
      seen.push(await statusOf(wrong.href), await statusOf(`http://127.0.0.1:${port}/`));
      seen.push(await statusOf(right, { host: `evil.example:${port}` }), await statusOf(right));
      await expect(statusOf(right)).rejects.toThrow(/ECONNREFUSED|ECONNRESET/);
    };
    expect((await login({ show })).access).toBe(standIn.token);
    expect(seen).toEqual([400, 400, 400, 200]);
  });

  it('ends when the user ends it, or refuses in the browser', async () => {
    const stop = new AbortController();
    const ended = login({ signal: stop.signal, show: async () => stop.abort(new Error('Ctrl-C')) });
    expect(await errorOf(ended)).toContain('Ctrl-C');
    const refuse = (error: string) =>
      login({
        show: async ({ address }) => {
          const query = new URL(address).searchParams;
          const back = new URLSearchParams({
            error,
            state: String(query.get('state')),
            iss: standIn.issuer,
          });
          await statusOf(`${query.get('redirect_uri')}?${back}`);
        },
      });
    expect(await errorOf(refuse('access_denied'))).toBe('MCP_LOGIN_FAILED the login was not granted: access_denied');
    expect(await errorOf(refuse('no\nSession applied.\x1b[2J'))).toBe(
      'MCP_LOGIN_FAILED the login was not granted: no\\u{a}Session applied.\\u{1b}[2J',
    );
  });

  it('takes the answer of the browser, whatever other programs of this machine send to its page', async () => {
    const idle: Socket[] = [];
    const show = async (one: ShownLogin): Promise<void> => {
      for (let count = 0; count < 150; count++)
        expect(await statusOf(`http://127.0.0.1:${one.port}/callback?state=x`)).toBe(400);
      for (let count = 0; count < 150; count++) {
        const socket = connect(Number(one.port), '127.0.0.1').on('error', () => undefined);
        idle.push(socket);
        await once(socket, 'connect');
      }
      await browse(one);
    };
    expect((await login({ show })).access).toBe(standIn.token);
    for (const socket of idle) socket.destroy();
  });
});

describe('a login is refused, with the reason,', () => {
  const REFUSED = 'MCP_LOGIN_REFUSED';
  const shown: ShownLogin[] = [];
  const show = async (one: ShownLogin): Promise<void> => {
    shown.push(one);
    await browse(one);
  };

  it.each<[string, () => void, string | RegExp]>([
    [
      'an address without TLS for the metadata',
      () => challenge('http://localhost/x'),
      'is not a plain https:// address: http:',
    ],
    [
      'metadata of another host',
      () => challenge('https://evil.example/x'),
      'names metadata of another host: evil.example',
    ],
    [
      'metadata for another host',
      () => resource({ resource: 'https://evil.example/mcp' }),
      'is for another address: https://evil',
    ],
    ['a resource that is not a text', () => resource({ resource: { toString: 1 } }), 'address: it is of type object'],
    [
      'an authorization server in lines',
      () => resource({ authorization_servers: ['http://localhost/\nERROR: x'] }),
      'http://localhost/\\u{a}ERROR: x',
    ],
    ['an issuer that is a list', () => metadata({ issuer: [{}] }), 'address: it is of type object'],
    ['no issuer', () => metadata({ issuer: undefined }), 'address: there is none'],
    ['metadata for another path', () => resource({ resource: `${standIn.server}/other` }), 'is for another address'],
    [
      'metadata for a path that begins alike',
      () => resource({ resource: `${standIn.server}/mc` }),
      'is for another address',
    ],
    [
      'an authorization server without TLS',
      () => resource({ authorization_servers: ['http://localhost/'] }),
      'the authorization server is not a plain https:// address',
    ],
    [
      'an authorization server with a login in its address',
      () => resource({ authorization_servers: ['https://a:b@localhost/'] }),
      'is not a plain https:// address',
    ],
    [
      'the metadata of another authorization server',
      () => metadata({ issuer: 'https://evil.example' }),
      'has the metadata of another: https://evil.example',
    ],
    [
      'a login page at another server',
      () => metadata({ authorization_endpoint: 'https://good.example/authorize' }),
      /authorization_endpoint of localhost:\d+ is on another host: good.example/,
    ],
    [
      'a login page that is a script',
      () => metadata({ authorization_endpoint: 'javascript:alert(1)' }),
      'authorization_endpoint of the authorization server is not a plain https:// address',
    ],
    [
      'a login page that is a file',
      () => metadata({ authorization_endpoint: 'file:///etc/passwd' }),
      'is not a plain https:// address',
    ],
    [
      'a token endpoint elsewhere',
      () => metadata({ token_endpoint: 'https://evil.example/token' }),
      'is on another host: evil.example',
    ],
    [
      'a token endpoint without TLS',
      () => metadata({ token_endpoint: standIn.issuer.replace('https', 'http') }),
      'token_endpoint of the authorization server is not',
    ],
    [
      'a registration elsewhere',
      () => metadata({ registration_endpoint: 'https://127.0.0.1:1/r' }),
      'is on another host: 127.0.0.1:1',
    ],
    ['no PKCE', () => metadata({ code_challenge_methods_supported: ['plain'] }), 'does not support PKCE with S256'],
    [
      'no word on PKCE',
      () => metadata({ code_challenge_methods_supported: undefined }),
      'does not support PKCE with S256',
    ],
    ['no registration', () => metadata({ registration_endpoint: undefined }), 'registers no clients by itself'],
    ['a redirect of the server', () => redirect('server /mcp'), 'redirects /mcp: a login follows no redirect'],
    [
      'a redirect of the metadata',
      () => redirect('issuer /.well-known/oauth-authorization-server'),
      'follows no redirect',
    ],
    ['a redirect of the registration', () => redirect('issuer /register'), 'follows no redirect'],
  ])('%s', async (_, prepare, why) => {
    prepare();
    shown.length = 0;
    const error = await errorOf(login({ show }));
    expect(error).toMatch(new RegExp(`^${REFUSED} `));
    expect(error).toMatch(why);
    // Nothing was opened, and no code was sent anywhere.
    expect([shown, standIn.grants]).toEqual([[], []]);
  });

  it.each<[string, () => void, string | RegExp]>([
    ['a redirect of the token endpoint', () => redirect('issuer /token'), /^MCP_LOGIN_REFUSED .*follows no redirect/],
    ['a token endpoint that fails', () => answer('issuer /token', 500, '{}'), /gave no token: status 500/],
    [
      'a token of another kind',
      () => answer('issuer /token', 200, '{"access_token":"a","token_type":"mac"}'),
      'its answer has no bearer token',
    ],
    [
      'a token that would add a header',
      () => answer('issuer /token', 200, '{"access_token":"a\\r\\nHost: x","token_type":"bearer"}'),
      'its answer has no bearer token',
    ],
    [
      'a token that is too long',
      () => answer('issuer /token', 200, JSON.stringify({ access_token: 'a'.repeat(9000), token_type: 'bearer' })),
      'its answer has no bearer token',
    ],
    ['no JSON', () => answer('issuer /token', 200, '<html>'), 'its answer is not a JSON object'],
    ['a client id that is none', () => answer('issuer /register', 201, '{"client_id":["x"]}'), 'gave no client id'],
    [
      'a registration that fails',
      () => answer('issuer /register', 400, '{}'),
      'did not register run-claude: status 400',
    ],
    [
      'metadata without an authorization server',
      () => resource({ authorization_servers: [] }),
      'names no authorization server',
    ],
    ['metadata that fails', () => answer('issuer /.well-known/oauth-authorization-server', 500, ''), 'status 500'],
    [
      'a huge answer',
      () => answer('issuer /.well-known/oauth-authorization-server', 200, `{"x":"${'x'.repeat(2_000_000)}"}`),
      'the answer is too long',
    ],
  ])('%s', async (_, prepare, why) => {
    prepare();
    const error = await errorOf(login());
    expect(error).toMatch(/^MCP_LOGIN_/);
    expect(error).toMatch(why);
  });

  it('an answer that never ends, and one that never begins', async () => {
    const drip = (response: import('node:http').ServerResponse): void => {
      const timer = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(timer));
    };
    standIn.answers.set('issuer /.well-known/oauth-authorization-server', drip);
    expect(await errorOf(login({}, { timeoutMs: 600 }))).toMatch(
      /^MCP_LOGIN_FAILED localhost:\d+: no whole answer in 0.6 s$/,
    );
    standIn.answers.set('server /mcp', () => undefined);
    expect(await errorOf(login({}, { timeoutMs: 600 }))).toContain('no whole answer in 0.6 s');
    // Its head is all that is read of the first answer.
    standIn.answers.set('server /mcp', drip);
    standIn.answers.delete('issuer /.well-known/oauth-authorization-server');
    expect((await login({}, { timeoutMs: 5000 })).access).toBe(standIn.token);
  });

  it('a private address, by name and by number, on the server and in its metadata', async () => {
    const none = { allowAddresses: [] };
    expect(await errorOf(login({}, none))).toMatch(
      /^MCP_LOGIN_REFUSED localhost resolves to (127\.0\.0\.1|::1), which is not/,
    );
    for (const host of ['169.254.169.254', '10.0.0.1', '[::ffff:10.0.0.1]', '[fd00::1]', '2130706434', '0x7f.2']) {
      resource({ authorization_servers: [`https://${host}/`] });
      const error = await errorOf(login({}, { allowAddresses: ['127.0.0.1/32', '::1/128'] }));
      expect(error, host).toMatch(/^MCP_LOGIN_REFUSED .* resolves to .*, which is not a public address$/);
    }
    expect(standIn.asked.filter((line) => line.includes('issuer'))).toEqual([]);
  });

  it('the answer of another authorization server, or of none', async () => {
    for (const iss of ['https://evil.example', undefined]) {
      const mixed = login({
        show: async ({ address }) => {
          const back = new URL(await redirectOf(address));
          if (iss === undefined) back.searchParams.delete('iss');
          else back.searchParams.set('iss', iss);
          await statusOf(back.href);
        },
      });
      expect(await errorOf(mixed)).toMatch(/^MCP_LOGIN_REFUSED the answer of the login is from /);
    }
    expect(standIn.grants).toEqual([]);
  });
});

function challenge(metadataUrl: string): void {
  standIn.challenge = `Bearer error="invalid_token", resource_metadata="${metadataUrl}"`;
}

function resource(parts: Record<string, unknown>): void {
  standIn.resource = parts;
}

function metadata(parts: Record<string, unknown>): void {
  standIn.metadata = parts;
}

function redirect(what: string): void {
  standIn.answers.set(what, (response) => response.writeHead(307, { location: 'https://evil.example/' }).end());
}

function answer(what: string, status: number, body: string): void {
  standIn.answers.set(what, (response) => response.writeHead(status).end(body));
}

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loginSource, mcpLogins } from '../../../../src/agents/mcp-login/login-source.ts';
import { type LoginStore, loginStore, type McpLogin } from '../../../../src/agents/mcp-login/login-store.ts';
import type { RunClaudeError } from '../../../../src/core/errors.ts';
import type { RunProgram } from '../../../../src/core/host/processes/run-program.ts';
import { type McpOAuth, startMcpOAuth } from '../../../support/stand-in/mcp-oauth.ts';

// A stored login, and how it is refreshed against a stand-in of its authorization server.

const HOUR = 3_600_000;
let dir: string;
let standIn: McpOAuth;
let store: LoginStore;
const before = https.globalAgent.options.ca;

beforeEach(async () => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-mcp-store-'));
  standIn = await startMcpOAuth({ dir });
  standIn.refreshToken = 'refresh-0';
  https.globalAgent.options.ca = standIn.ca;
  store = loginStore(dir, 'box', { platform: 'linux' });
});

afterEach(async () => {
  if (before === undefined) delete https.globalAgent.options.ca;
  else https.globalAgent.options.ca = before;
  await standIn[Symbol.asyncDispose]();
  rmSync(dir, { recursive: true, force: true });
});

const login = (parts: Partial<McpLogin> = {}): McpLogin => ({
  version: 1,
  server: `${standIn.server}/mcp`,
  resource: `${standIn.server}/mcp`,
  issuer: standIn.issuer,
  tokenEndpoint: `${standIn.issuer}/token`,
  client: { id: 'by-hand', method: 'none' },
  access: 'access-0',
  refresh: 'refresh-0',
  expiresMs: Date.now() + HOUR,
  ...parts,
});

const source = (of = store) =>
  loginSource(of, `${standIn.server}/mcp`, { env: {}, allowAddresses: ['127.0.0.1/32', '::1/128'] });

async function errorOf(run: Promise<unknown>): Promise<string> {
  const error = await run.then(
    () => undefined,
    (reason: RunClaudeError) => reason,
  );
  return `${error?.code} ${error?.message} ${error?.hint}`;
}

describe('a stored login', () => {
  it('is a file that only its user may read, and is removed', async () => {
    await store.write(login());
    const file = path.join(dir, 'mcp-logins/box.json');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
    expect(await store.read()).toEqual(login({ expiresMs: (await store.read())?.expiresMs }));
    expect([await store.remove(), await store.remove(), await store.read()]).toEqual([true, false, undefined]);
  });

  it('that is damaged is named, and not used', async () => {
    await store.write(login());
    writeFileSync(path.join(dir, 'mcp-logins/box.json'), '{"version":1,"server":"https://evil.example"}');
    expect(await errorOf(source().current())).toMatch(/^RECORD_DAMAGED .*resource is missing/);
  });

  it('is used as it is while it is valid, for its own address only', async () => {
    await store.write(login());
    expect(await source().current()).toMatchObject({ kind: 'oauth', value: 'access-0' });
    expect(standIn.asked).toEqual([]);
    const other = loginSource(store, 'https://other.example/mcp', { env: {}, allowAddresses: [] });
    expect(await errorOf(other.current())).toMatch(/^MCP_LOGIN_MISSING .* run-claude mcp login box$/);
  });

  it('is refreshed before it expires, stored first, and the new refresh token is used the next time', async () => {
    await store.write(login({ expiresMs: Date.now() + 60_000 }));
    const value = (await source().current()).value;
    expect([value, standIn.grants]).toEqual([standIn.token, ['refresh']]);
    expect(await store.read()).toMatchObject({ access: standIn.token, refresh: standIn.refreshToken });
    await store.write({ ...login(), access: value, refresh: standIn.refreshToken, expiresMs: 1 });
    expect((await source().current()).value).toBe(standIn.token);
    expect(standIn.grants).toHaveLength(2);
    expect(readdirSync(path.join(dir, 'mcp-logins'))).toEqual(['box.json']);
  });

  it('is refreshed once for two sessions', async () => {
    await store.write(login());
    const [one, other] = [source(), source()];
    await Promise.all([one.current(), other.current()]);
    const both = await Promise.all([one.refresh(), other.refresh()]);
    expect(both.map(({ value }) => value)).toEqual([standIn.token, standIn.token]);
    expect(standIn.grants).toEqual(['refresh']);
  });

  it('that is removed while it is refreshed stays removed, and a new login stays the new one', async () => {
    const held: (() => void)[] = [];
    standIn.answers.set('issuer /token', (response) =>
      held.push(() => void response.writeHead(200).end('{"access_token":"late","token_type":"Bearer"}')),
    );
    for (const then of [undefined, 'by-new-login']) {
      await store.write(login());
      const refreshing = source().refresh();
      await expect.poll(() => held.length).toBe(1);
      const ended = store.locked(async () =>
        then === undefined ? store.remove() : store.write(login({ access: then })),
      );
      held.pop()?.();
      await Promise.all([refreshing, ended]);
      expect((await store.read())?.access).toBe(then);
    }
  });

  it('whose refresh was killed before it was stored says how to log in again', async () => {
    await store.write(login({ expiresMs: 1 }));
    const unstored = { ...store, write: () => Promise.reject(new Error('killed')) };
    await expect(source(unstored).current()).rejects.toThrow('killed');
    expect(await errorOf(source().current())).toMatch(
      /^CREDENTIAL_EXPIRED .* its authorization server refused to refresh it .*run-claude mcp login box$/,
    );
    expect(await store.read()).toMatchObject({ access: 'access-0', refresh: 'refresh-0' });
  });

  it('is not refreshed again and again for a server that refuses each token', async () => {
    await store.write(login());
    const one = source();
    await one.current();
    await one.refresh();
    expect(await errorOf(one.refresh())).toContain('the server refused a token that was fetched just now');
    expect(standIn.grants).toHaveLength(1);
    // A token with a short life is fetched again after half of it.
    standIn.lifeS = 1;
    const short = loginSource(store, `${standIn.server}/mcp`, { env: {}, allowAddresses: ['127.0.0.1/32', '::1/128'] });
    await short.refresh();
    await new Promise((done) => setTimeout(done, 600));
    expect((await short.refresh()).value).toBe(standIn.token);
  });

  it.each([
    ['refused', 'refresh-other', 'its authorization server refused to refresh it'],
    ['without a refresh token', undefined, 'it cannot be refreshed'],
  ])('that is %s says how to log in again', async (_, refresh, why) => {
    await store.write(login({ refresh, expiresMs: 1 }));
    const error = await errorOf(source().current());
    expect(error).toContain(`CREDENTIAL_EXPIRED the login to the MCP server box has expired, and ${why}`);
    expect(error).toContain('run-claude mcp login box');
  });

  it('that cannot be refreshed for now is used until it expires', async () => {
    standIn.answers.set('issuer /token', (response) => response.writeHead(503).end());
    await store.write(login({ expiresMs: Date.now() + 60_000 }));
    expect((await source().current()).value).toBe('access-0');
    await store.write(login({ expiresMs: 1 }));
    expect(await errorOf(source().current())).toContain('gave no answer');
  });

  it('is never sent where its authorization server redirects, or has moved to a private address', async () => {
    await store.write(login({ expiresMs: 1 }));
    standIn.answers.set('issuer /token', (response) => response.writeHead(307, { location: standIn.server }).end());
    expect(await errorOf(source().current())).toMatch(/^MCP_LOGIN_REFUSED .*follows no redirect/);
    const strict = loginSource(store, `${standIn.server}/mcp`, { env: {}, allowAddresses: [] });
    const asked = standIn.asked.length;
    expect(await errorOf(strict.current())).toMatch(/^MCP_LOGIN_REFUSED .*not a public address/);
    expect(standIn.asked).toHaveLength(asked);
  });

  it('shows a secret of its client as the server wanted', async () => {
    const sent: string[] = [];
    standIn.answers.set('issuer /token', (response, request) => {
      let body = String(request.headers.authorization);
      request.on('data', (part) => {
        body += ` ${part}`;
      });
      request.on('end', () => {
        sent.push(body);
        response.writeHead(200).end('{"access_token":"a","token_type":"Bearer"}');
      });
    });
    for (const method of ['client_secret_basic', 'client_secret_post'] as const) {
      await store.write(login({ expiresMs: 1, client: { id: 'a b', secret: 'c:d', method } }));
      await source().current();
    }
    expect(sent[0]).toContain(`Basic ${Buffer.from('a+b:c%3Ad').toString('base64')} `);
    expect(sent[0]).not.toContain('client_secret');
    expect(sent[1]).toMatch(/^undefined .*client_id=a\+b&client_secret=c%3Ad$/);
  });
});

it('on macOS a login is an item of the Keychain, and a file where it is too long for one', async () => {
  let item: string | undefined;
  const run: RunProgram = async ([program, word], { stdin = '' } = {}) => {
    expect(program).toBe('security');
    if (word === '-i') item = Buffer.from(/-X "([0-9a-f]+)"/.exec(stdin)?.[1] ?? '', 'hex').toString();
    if (word === 'find-generic-password') return { status: item === undefined ? 44 : 0, stdout: item ?? '' };
    if (word === 'delete-generic-password') {
      const had = item !== undefined;
      item = undefined;
      return { status: had ? 0 : 44, stdout: '' };
    }
    return { status: 0, stdout: '' };
  };
  const mac = loginStore(dir, 'box', { platform: 'darwin', run });
  const file = path.join(dir, 'mcp-logins/box.json');
  await mac.write(login());
  expect([existsSync(file), (await mac.read())?.access, item?.includes('access-0')]).toEqual([false, 'access-0', true]);
  const long = 'x'.repeat(4000);
  await mac.write(login({ access: long }));
  expect([item, (await mac.read())?.access]).toEqual([undefined, long]);
  expect(readFileSync(file, 'utf8')).toContain(long);
  await mac.write(login());
  expect([existsSync(file), (await mac.read())?.access]).toEqual([false, 'access-0']);
  expect([await mac.remove(), await mac.remove(), await mac.read()]).toEqual([true, false, undefined]);
});

it('only servers with oauth have a login', () => {
  const servers = [
    { name: 'a', url: 'https://a.example/mcp' },
    { name: 'b', url: 'https://b.example/mcp', oauth: true },
  ];
  expect([...mcpLogins(servers, dir, { env: {}, allowAddresses: [] }).keys()]).toEqual(['b']);
});

import { type ChildProcess, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCa, createHostCertificate } from '../../../../../images/gateway/certificate.mjs';
import {
  type CredentialPlaces,
  describeCredential,
  findCredential,
} from '../../../../../src/agents/claude/credentials/credentials.ts';
import { withSettings } from '../../../../../src/agents/claude/credentials/settings-env.ts';
import { post } from '../../../../../src/core/host/https-request.ts';
import type { CredentialSource } from '../../../../../src/core/types/agent/credential.ts';
import { compileProgram } from '../../../../support/compile.ts';
import { type OAuthEndpoint, startOAuthEndpoint } from '../../../../support/stand-in/oauth-endpoint.ts';

const HOUR_MS = 3_600_000;
let home = '';
let endpoint: OAuthEndpoint;

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'rc-credentials-'));
  mkdirSync(join(home, '.claude'));
  endpoint = await startOAuthEndpoint('refresh-0');
});
afterEach(async () => {
  await endpoint[Symbol.asyncDispose]();
  rmSync(home, { recursive: true });
});

const storePath = (): string => join(home, '.claude', '.credentials.json');
const stored = (): Record<string, Record<string, unknown>> =>
  JSON.parse(readFileSync(storePath(), 'utf8')) as Record<string, Record<string, unknown>>;

function logIn(expiresInMs: number, refreshToken = 'refresh-0'): void {
  const claudeAiOauth = {
    accessToken: 'access-0',
    refreshToken,
    expiresAt: Date.now() + expiresInMs,
    scopes: ['user:inference'],
    subscriptionType: 'max',
  };
  writeFileSync(storePath(), JSON.stringify({ claudeAiOauth, mcpOAuth: { x: { accessToken: 'mcp' } } }), {
    mode: 0o600,
  });
}

async function find(more: Partial<CredentialPlaces> = {}): Promise<CredentialSource> {
  const found = await findCredential(places(more));
  if (found === undefined) throw new Error('no credential found');
  return found;
}

function places(more: Partial<CredentialPlaces> = {}): CredentialPlaces {
  return {
    env: {},
    home,
    platform: 'linux',
    endpoint: endpoint.url,
    managedSettings: join(home, 'none'),
    lockWaitMs: 5000,
    ...more,
  };
}

/** A session's refresh as its own process. */
async function refreshing(
  more: string[] = [],
  env: NodeJS.ProcessEnv = process.env,
  at = endpoint.url,
): Promise<{ child: ChildProcess; said: Promise<string> }> {
  program ??= compileProgram(resolve(import.meta.dirname, '../../../../support/stand-in/refresh-program.ts'));
  const child = spawn(process.execPath, [await program, home, at, ...more], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const said = new Promise<string>((done) => {
    let text = '';
    child.stdout.on('data', (part) => {
      text += part;
    });
    child.on('close', () => done(text));
  });
  return { child, said };
}
let program: Promise<string> | undefined;

describe('finding the credential', () => {
  it('finds none in an empty home', async () => {
    expect(await findCredential(places())).toBeUndefined();
  });
  it('uses the credential that Claude itself would use, in the same order', async () => {
    logIn(HOUR_MS);
    const env: Record<string, string> = {};
    const order: string[] = [];
    const names = ['CLAUDE_CODE_OAUTH_TOKEN', 'apiKeyHelper', 'ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'];
    order.push((await find({ env })).name);
    for (const name of names) {
      if (name === 'apiKeyHelper') writeFileSync(join(home, '.claude/settings.json'), '{"apiKeyHelper":"echo k"}');
      else env[name] = `value of ${name}`;
      order.push((await find({ env })).name);
    }
    expect(order).toEqual(['~/.claude/.credentials.json', ...names]);
    expect(await (await find({ env })).current()).toEqual({
      kind: 'auth-token',
      value: 'value of ANTHROPIC_AUTH_TOKEN',
    });
  });
  it('runs the user’s helper, and never a project’s', async () => {
    const project = join(home, 'project');
    mkdirSync(join(project, '.claude'), { recursive: true });
    writeFileSync(join(project, '.claude/settings.json'), '{"apiKeyHelper":"touch marker; echo evil"}');
    expect(await findCredential(places())).toBeUndefined();
    writeFileSync(join(home, '.claude/settings.json'), '{"apiKeyHelper":"echo \\"$ANSWER\\""}');
    const source = await find({ env: { PATH: process.env['PATH'], ANSWER: 'helper-key' } });
    expect(await source.current()).toEqual({ kind: 'api-key', value: 'helper-key' });
    expect(existsSync(join(project, 'marker'))).toBe(false);
  });
  it('takes the provider’s variables from managed settings, then from the user’s, and never from a project’s', async () => {
    const managedSettings = join(home, 'managed.json');
    const own = {
      CLAUDE_CODE_USE_BEDROCK: '1',
      AWS_REGION: 'eu-west-1',
      AWS_PROFILE: 'mine',
      NODE_OPTIONS: '--require x',
      PATH: '/evil',
    };
    writeFileSync(join(home, '.claude/settings.json'), JSON.stringify({ env: own }));
    writeFileSync(managedSettings, JSON.stringify({ env: { AWS_PROFILE: 'company', ANTHROPIC_MODEL: 7 } }));
    const env = withSettings({ PATH: '/bin', AWS_REGION: 'us-east-1' }, { home, platform: 'linux', managedSettings });
    expect(env).toEqual({
      PATH: '/bin',
      CLAUDE_CODE_USE_BEDROCK: '1',
      AWS_REGION: 'eu-west-1',
      AWS_PROFILE: 'company',
    });
    expect((await find({ env })).name).toBe('AWS profile company');
    expect(withSettings({}, { home: join(home, 'nobody'), platform: 'linux', managedSettings: '/none' })).toEqual({});
  });
  it('reports that a helper failed, without its output', async () => {
    writeFileSync(join(home, '.claude/settings.json'), '{"apiKeyHelper":"echo half-a-secret; exit 3"}');
    const source = await find();
    const failure = await source.current().catch((error: Error) => error);
    expect(failure).toMatchObject({ code: 'CREDENTIAL_HELPER_FAILED' });
    expect(JSON.stringify(failure)).not.toContain('half-a-secret');
  });
  it('asks the Keychain on macOS, without the secret in an argument', async () => {
    const calls: { argv: readonly string[]; stdin: string }[] = [];
    const item = { claudeAiOauth: { accessToken: 'access-0', refreshToken: 'refresh-0', expiresAt: 1 } };
    const run: CredentialPlaces['run'] = async (argv, options) => {
      calls.push({ argv, stdin: options?.stdin ?? '' });
      return { status: 0, stdout: argv[1] === '-i' ? '' : JSON.stringify(item) };
    };
    const source = await find({ platform: 'darwin', run });
    expect(calls[0]?.argv).toEqual(['security', 'find-generic-password', '-s', 'Claude Code-credentials', '-w']);
    expect(source.name).toBe('macOS Keychain');
    expect(await source.current()).toMatchObject({ value: 'access-1' });
    const write = calls.at(-1);
    expect(write?.argv).toEqual(['security', '-i']);
    expect(write?.stdin).toContain(Buffer.from('"access-1"').toString('hex'));
    expect(JSON.stringify(calls.map((call) => call.argv))).not.toMatch(/access-|refresh-|616363657373/);
  });
  it('shows the source and the expiry, and no part of the secret', async () => {
    logIn(3 * HOUR_MS + 1000);
    expect(describeCredential(await find(), Date.now())).toBe('~/.claude/.credentials.json (expires in 3 h)');
    logIn(-HOUR_MS);
    expect(describeCredential(await find(), Date.now())).toContain('expired');
    expect(JSON.stringify(await find())).not.toMatch(/access-|refresh-/);
  });
  it('refuses a login file that it has no permission to read', async () => {
    mkdirSync(storePath());
    await expect(find()).rejects.toMatchObject({ code: 'CREDENTIAL_UNREADABLE' });
  });
});

describe('refreshing the login', () => {
  it('does not refresh a token that is still valid', async () => {
    logIn(HOUR_MS);
    expect(await (await find()).current()).toMatchObject({ kind: 'oauth', value: 'access-0' });
    expect(endpoint.asked).toEqual([]);
  });
  it('refreshes an expired token, writes the host’s store first and keeps its other content', async () => {
    logIn(-1000);
    const secret = await (await find()).current();
    expect(secret.value).toBe('access-1');
    expect(secret.expiresMs).toBeGreaterThan(Date.now() + 7 * HOUR_MS);
    expect(stored()['claudeAiOauth']).toMatchObject({
      accessToken: 'access-1',
      refreshToken: 'refresh-1',
      subscriptionType: 'max',
    });
    expect(stored()['mcpOAuth']).toEqual({ x: { accessToken: 'mcp' } });
    expect(statSync(storePath()).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(home, '.claude'))).toEqual(['.credentials.json']);
    expect(existsSync(join(home, '.claude.lock'))).toBe(false);
  });
  it('keeps the refresh token where the answer has no new one', async () => {
    logIn(-1000);
    endpoint.rotates = false;
    expect((await (await find()).current()).value).toBe('access-1');
    expect(stored()['claudeAiOauth']).toMatchObject({ accessToken: 'access-1', refreshToken: 'refresh-0' });
  });
  it('uses the token that an older Claude, which takes no lock, stored while the endpoint refused', async () => {
    logIn(-1000);
    endpoint.fail(400);
    endpoint.slow(500);
    const asked = (await find()).current();
    await expect.poll(() => endpoint.asked).toEqual(['refresh-0']);
    const other = { accessToken: 'of-another', refreshToken: 'refresh-9', expiresAt: Date.now() + HOUR_MS, scopes: [] };
    writeFileSync(storePath(), JSON.stringify({ claudeAiOauth: other }));
    expect((await asked).value).toBe('of-another');
    expect(stored()['claudeAiOauth']).toEqual(other);
  });
  it('refreshes once for two sessions at the same time', async () => {
    logIn(-1000);
    const [one, two] = [await find(), await find()];
    const values = (await Promise.all([one.current(), two.current()])).map((secret) => secret.value);
    expect(values).toEqual(['access-1', 'access-1']);
    expect(endpoint.asked).toEqual(['refresh-0']);
  });
  it('uses the token that another process refreshed, after a 401', async () => {
    logIn(HOUR_MS);
    const [one, two] = [await find(), await find()];
    await one.current();
    await two.current();
    expect((await one.refresh()).value).toBe('access-1');
    expect((await two.refresh()).value).toBe('access-1');
    expect(endpoint.asked).toEqual(['refresh-0']);
  });
  it('refuses, with the next step, when the refresh token was used already', async () => {
    logIn(-1000, 'spent');
    const failure = await (await find()).current().catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'CREDENTIAL_EXPIRED', status: 125 });
    expect((failure as { hint: string }).hint).toContain('/login');
    expect(stored()['claudeAiOauth']).toMatchObject({ accessToken: 'access-0', refreshToken: 'spent' });
  });
  it('refuses an expired token without a refresh token', async () => {
    writeFileSync(storePath(), JSON.stringify({ claudeAiOauth: { accessToken: 'access-0', expiresAt: 1 } }));
    await expect((await find()).current()).rejects.toMatchObject({ code: 'CREDENTIAL_EXPIRED' });
  });
  it('serves a token in its last minutes while the endpoint is down, and refuses afterwards', async () => {
    endpoint.fail(503);
    logIn(60_000);
    expect(await (await find()).current()).toMatchObject({ value: 'access-0' });
    logIn(-1000);
    await expect((await find()).current()).rejects.toMatchObject({ code: 'CREDENTIAL_EXPIRED' });
    endpoint.fail(0);
    expect(await (await find()).current()).toMatchObject({ value: 'access-1' });
  });
  it('refreshes once for two processes at the same time', async () => {
    logIn(-1000);
    endpoint.slow(300);
    const both = [await refreshing(), await refreshing()];
    expect(await Promise.all(both.map(({ said }) => said))).toEqual(['access-1\n', 'access-1\n']);
    expect(endpoint.asked).toEqual(['refresh-0']);
  });
  it('sends requests through the HTTPS proxy of this machine, under the company’s CA, and directly where NO_PROXY names the host', async () => {
    const ca = createCa(Date.now());
    writeFileSync(join(home, 'ca.pem'), ca.certificate);
    const asked: string[] = [];
    const tls = createTlsServer(createHostCertificate(ca, 'token.test', Date.now()), (socket) => {
      const out = connect(Number(new URL(endpoint.url).port), '127.0.0.1');
      socket.on('error', () => out.destroy());
      out.on('error', () => socket.destroy());
      socket.pipe(out).pipe(socket);
    });
    await new Promise<void>((done) => tls.listen(0, '127.0.0.1', done));
    const proxy = createServer();
    proxy.on('connect', (request: IncomingMessage, client: Socket) => {
      asked.push(`${request.url} ${request.headers['proxy-authorization']}`);
      const out = connect((tls.address() as AddressInfo).port, '127.0.0.1');
      client.on('error', () => out.destroy());
      out.on('error', () => client.destroy());
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      client.pipe(out).pipe(client);
    });
    await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));
    try {
      logIn(-1000);
      const { PATH } = process.env;
      const HTTPS_PROXY = `http://me:p%40ss@127.0.0.1:${(proxy.address() as AddressInfo).port}`;
      const env = { PATH, HTTPS_PROXY, NODE_EXTRA_CA_CERTS: join(home, 'ca.pem') };
      const one = await refreshing([], env, 'https://token.test/v1/oauth/token');
      expect(await one.said).toBe('access-1\n');
      expect(asked).toEqual([`token.test:443 Basic ${Buffer.from('me:p@ss').toString('base64')}`]);
      logIn(-1000, 'refresh-1');
      await expect(
        post('https://x.token.test/', { type: 'a', body: 'b' }, { ...env, NO_PROXY: '.token.test' }, 20_000),
      ).rejects.toThrow(/x\.token\.test/);
      expect(asked).toHaveLength(1);
    } finally {
      proxy.close();
      tls.close();
    }
  });
  it('continues from the store when a session is killed between the write of the store and its gateway', async () => {
    logIn(-1000);
    const { child, said } = await refreshing(['hold']);
    await expect.poll(() => stored()['claudeAiOauth']?.['accessToken']).toBe('access-1');
    child.kill('SIGKILL');
    expect(await said).toBe('');
    expect(await (await find()).current()).toMatchObject({ value: 'access-1' });
    expect(endpoint.asked).toEqual(['refresh-0']);
  });
  it('takes over the lock of a session that was killed during a refresh', async () => {
    logIn(-1000);
    endpoint.slow(60_000);
    const { child, said } = await refreshing();
    await expect.poll(() => endpoint.asked).toEqual(['refresh-0']);
    child.kill('SIGKILL');
    expect(await said).toBe('');
    const locks = [join(home, '.claude', '.oauth_refresh.lock'), join(home, '.claude.lock')];
    expect(locks.map((lock) => existsSync(lock))).toEqual([true, true]);
    endpoint.slow(0);
    // A minute later.
    const old = new Date(Date.now() - 61_000);
    for (const lock of locks) utimesSync(lock, old, old);
    expect(await (await find()).current()).toMatchObject({ value: 'access-1' });
    expect(locks.map((lock) => existsSync(lock))).toEqual([false, false]);
  });
  it('does not return a token that could not be stored', async () => {
    const item = { claudeAiOauth: { accessToken: 'access-0', refreshToken: 'refresh-0', expiresAt: 1 } };
    const run: CredentialPlaces['run'] = async (argv) =>
      argv[1] === '-i' ? { status: 1, stdout: '' } : { status: 0, stdout: JSON.stringify(item) };
    const source = await find({ platform: 'darwin', run });
    await expect(source.current()).rejects.toMatchObject({ code: 'CREDENTIAL_STORE_WRITE' });
  });
  it('waits for Claude’s own lock, names it in the error, and takes over a stale one', async () => {
    logIn(-1000);
    const lock = join(home, '.claude', '.oauth_refresh.lock');
    mkdirSync(lock);
    await expect((await find({ lockWaitMs: 300 })).current()).rejects.toMatchObject({ code: 'CREDENTIAL_LOCKED' });
    expect(endpoint.asked).toEqual([]);
    const old = new Date(Date.now() - 120_000);
    utimesSync(lock, old, old);
    expect(await (await find()).current()).toMatchObject({ value: 'access-1' });
  });
});

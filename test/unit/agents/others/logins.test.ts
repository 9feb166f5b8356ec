import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { findCodexCredential } from '../../../../src/agents/others/codex-login.ts';
import { findCopilotCredential } from '../../../../src/agents/others/copilot-login.ts';
import { findGeminiCredential } from '../../../../src/agents/others/gemini-login.ts';
import { findOpencodeCredential } from '../../../../src/agents/others/opencode-home.ts';
import { expiryOfJwt } from '../../../../src/agents/others/token-login.ts';

interface Endpoint {
  readonly url: string;
  readonly asked: { readonly type: string; readonly body: string }[];
  answer: { status: number; body: string };
  /** Called before each answer. */
  meanwhile: () => void;
}

async function startEndpoint(): Promise<Endpoint> {
  const asked: Endpoint['asked'] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => {
      body += part;
    });
    request.on('end', () => {
      asked.push({ type: String(request.headers['content-type']), body });
      endpoint.meanwhile();
      response.writeHead(endpoint.answer.status).end(endpoint.answer.body);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`;
  const endpoint: Endpoint = { url, asked, answer: { status: 500, body: '' }, meanwhile: () => undefined };
  return endpoint;
}

function makeHome(files: Readonly<Record<string, unknown>>): string {
  const home = mkdtempSync(path.join(tmpdir(), 'run-claude-home-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(home, name)), { recursive: true });
    writeFileSync(path.join(home, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
  return home;
}

const jwt = (seconds: number): string =>
  `e30.${Buffer.from(JSON.stringify({ exp: Math.floor(Date.now() / 1000) + seconds })).toString('base64url')}.x`;

const chatgpt = (access: string) => ({
  OPENAI_API_KEY: null,
  tokens: { id_token: 'id', access_token: access, refresh_token: 'refresh-0', account_id: 'account-1' },
  other: 'kept',
});

it('takes the key of Codex from its own variable, what codex login stored, then OPENAI_API_KEY', async () => {
  const home = makeHome({ '.codex/auth.json': { OPENAI_API_KEY: 'sk-stored' } });
  const empty = makeHome({});
  const value = async (where: string, env: NodeJS.ProcessEnv) =>
    (await (await findCodexCredential({ env, home: where }))?.current())?.value;
  expect(await value(home, { CODEX_API_KEY: 'sk-own', OPENAI_API_KEY: 'sk-env' })).toBe('sk-own');
  expect(await value(home, { OPENAI_API_KEY: 'sk-env' })).toBe('sk-stored');
  expect(await value(empty, { OPENAI_API_KEY: 'sk-env' })).toBe('sk-env');
  expect(await value(empty, {})).toBeUndefined();
  const source = await findCodexCredential({ env: { OPENAI_BASE_URL: 'https://own.example/v1/' }, home });
  expect(source).toMatchObject({ name: '~/.codex/auth.json', kind: 'api-key', fixed: true });
  expect(source?.cloud).toEqual({ url: 'https://own.example', api: { kind: 'openai' } });
  await expect(source?.refresh()).rejects.toMatchObject({ code: 'CREDENTIAL_EXPIRED' });
});

it('refreshes a ChatGPT login in its file before it expires, and keeps everything else in it', async () => {
  const endpoint = await startEndpoint();
  const home = makeHome({ '.codex/auth.json': chatgpt(jwt(60)) });
  const file = path.join(home, '.codex/auth.json');
  const env = { CODEX_REFRESH_TOKEN_URL_OVERRIDE: endpoint.url };
  const source = await findCodexCredential({ env, home });
  expect(source?.cloud).toEqual({
    url: 'https://chatgpt.com/backend-api/codex',
    api: { kind: 'chatgpt', account: 'account-1' },
  });
  const next = jwt(3600);
  endpoint.answer = { status: 200, body: JSON.stringify({ access_token: next, refresh_token: 'refresh-1' }) };
  expect((await source?.current())?.value).toBe(next);
  expect(JSON.parse(endpoint.asked[0]?.body ?? '')).toMatchObject({ refresh_token: 'refresh-0' });
  const written = JSON.parse(readFileSync(file, 'utf8'));
  expect(written.tokens).toEqual({ ...chatgpt(next).tokens, refresh_token: 'refresh-1' });
  expect(written.other).toBe('kept');
  // Long enough now.
  await source?.current();
  expect(endpoint.asked).toHaveLength(1);

  // Codex on the host has refreshed it: its refresh token is not spent again.
  const theirs = jwt(7200);
  writeFileSync(file, JSON.stringify(chatgpt(theirs)));
  expect((await source?.refresh())?.value).toBe(theirs);
  expect(endpoint.asked).toHaveLength(1);

  endpoint.answer = { status: 401, body: '' };
  await expect(source?.refresh()).rejects.toMatchObject({ code: 'CREDENTIAL_EXPIRED' });
  endpoint.answer = { status: 500, body: '' };
  await expect(source?.refresh()).rejects.toThrow('status 500');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(chatgpt(theirs));
});

it('keeps a login that the program on the host stored during the refresh, and stays logged out', async () => {
  const endpoint = await startEndpoint();
  const home = makeHome({ '.codex/auth.json': chatgpt(jwt(60)) });
  const file = path.join(home, '.codex/auth.json');
  const source = await findCodexCredential({ env: { CODEX_REFRESH_TOKEN_URL_OVERRIDE: endpoint.url }, home });
  endpoint.answer = { status: 200, body: JSON.stringify({ access_token: jwt(3600), refresh_token: 'refresh-1' }) };
  const theirs = chatgpt(jwt(7200));
  theirs.tokens.refresh_token = 'refresh-theirs';
  endpoint.meanwhile = () => writeFileSync(file, JSON.stringify(theirs));
  expect((await source?.current())?.value).toBe(theirs.tokens.access_token);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(theirs);

  writeFileSync(file, JSON.stringify(chatgpt(jwt(60))));
  endpoint.meanwhile = () => writeFileSync(file, '{}');
  await expect(source?.current()).rejects.toMatchObject({ code: 'CREDENTIAL_EXPIRED' });
  expect(readFileSync(file, 'utf8')).toBe('{}');

  // What else was stored in it in the meantime is kept.
  writeFileSync(file, JSON.stringify(chatgpt(jwt(60))));
  endpoint.meanwhile = () => writeFileSync(file, JSON.stringify({ ...chatgpt(jwt(60)), other: 'newer' }));
  await source?.current();
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
    other: 'newer',
    tokens: { refresh_token: 'refresh-1' },
  });
});

it('spends no refresh token whose successor could not be stored', async () => {
  const endpoint = await startEndpoint();
  endpoint.answer = { status: 200, body: JSON.stringify({ access_token: jwt(3600), refresh_token: 'refresh-1' }) };
  // Next to a name this long no other can be made, even by root.
  const long = 'x'.repeat(250);
  const home = makeHome({ [long]: chatgpt(jwt(60)), '.codex/config.toml': '' });
  symlinkSync(path.join(home, long), path.join(home, '.codex/auth.json'));
  const source = await findCodexCredential({ env: { CODEX_REFRESH_TOKEN_URL_OVERRIDE: endpoint.url }, home });
  await expect(source?.current()).rejects.toThrow('cannot be written (ENAMETOOLONG)');
  expect(endpoint.asked).toEqual([]);
});

it('does not refresh a token that it fetched just before, whatever refused it', async () => {
  const endpoint = await startEndpoint();
  const home = makeHome({ '.codex/auth.json': chatgpt(jwt(3600)) });
  const source = await findCodexCredential({ env: { CODEX_REFRESH_TOKEN_URL_OVERRIDE: endpoint.url }, home });
  const answer = (): void => {
    endpoint.answer = { status: 200, body: JSON.stringify({ access_token: jwt(5000 + endpoint.asked.length) }) };
  };
  answer();
  await source?.refresh();
  answer();
  await expect(source?.refresh()).rejects.toThrow('less than 10 minutes old');
  expect(endpoint.asked).toHaveLength(1);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 11 * 60_000 });
  onTestFinished(() => void vi.useRealTimers());
  await source?.refresh();
  expect(endpoint.asked).toHaveLength(2);
});

it('takes what Gemini CLI would: the login where its settings choose it, otherwise a key', async () => {
  const creds = { access_token: 'ya29.a', refresh_token: '1//r', expiry_date: Date.now() + 3_600_000 };
  const chosen = { security: { auth: { selectedType: 'oauth-personal' } } };
  const both = makeHome({ '.gemini/oauth_creds.json': creds, '.gemini/settings.json': chosen });
  const env = { GEMINI_API_KEY: 'key' };
  expect(await findGeminiCredential({ env, home: both })).toMatchObject({
    name: '~/.gemini/oauth_creds.json',
    kind: 'oauth',
    cloud: { url: 'https://cloudcode-pa.googleapis.com', api: { kind: 'code-assist' } },
  });
  const login = makeHome({ '.gemini/oauth_creds.json': creds });
  expect((await findGeminiCredential({ env, home: login }))?.name).toBe('GEMINI_API_KEY');
  expect((await findGeminiCredential({ env: {}, home: login }))?.kind).toBe('oauth');
  const stored = makeHome({ '.gemini/.env': 'A=b\nexport GEMINI_API_KEY="in-file"\n' });
  const source = await findGeminiCredential({ env: {}, home: stored });
  expect((await source?.current())?.value).toBe('in-file');
  expect(await findGeminiCredential({ env: {}, home: makeHome({}) })).toBeUndefined();
});

it('refreshes a Google login in its file, as a form', async () => {
  const endpoint = await startEndpoint();
  const creds = { access_token: 'old', refresh_token: '1//r', expiry_date: Date.now() + 60_000, scope: 'kept' };
  const home = makeHome({ '.gemini/oauth_creds.json': creds });
  endpoint.answer = { status: 200, body: JSON.stringify({ access_token: 'new', expires_in: 3600 }) };
  const source = await findGeminiCredential({ env: {}, home, endpoint: endpoint.url });
  expect(await source?.current()).toMatchObject({ kind: 'oauth', value: 'new' });
  expect(endpoint.asked[0]?.type).toBe('application/x-www-form-urlencoded');
  expect(new URLSearchParams(endpoint.asked[0]?.body).get('refresh_token')).toBe('1//r');
  const written = JSON.parse(readFileSync(path.join(home, '.gemini/oauth_creds.json'), 'utf8'));
  expect(written).toMatchObject({ access_token: 'new', refresh_token: '1//r', scope: 'kept' });
  expect(written.expiry_date).toBeGreaterThan(Date.now() + 3_000_000);
});

it('takes a key of opencode, Anthropic first, from the environment and then from its store, and no subscription', async () => {
  const stored = makeHome({
    '.local/share/opencode/auth.json': {
      anthropic: { type: 'oauth', access: 'x' },
      openai: { type: 'api', key: 'sk-o' },
    },
  });
  expect(await findOpencodeCredential({ env: { ANTHROPIC_API_KEY: 'sk-ant' }, home: stored })).toMatchObject({
    name: 'ANTHROPIC_API_KEY',
    cloud: { url: 'https://api.anthropic.com', api: { kind: 'anthropic' } },
  });
  const source = await findOpencodeCredential({ env: { OPENAI_BASE_URL: 'http://o.example/v1' }, home: stored });
  expect(source).toMatchObject({
    name: '~/.local/share/opencode/auth.json',
    cloud: { url: 'http://o.example', api: { kind: 'openai' } },
  });
  expect((await source?.current())?.value).toBe('sk-o');
  expect(await findOpencodeCredential({ env: {}, home: makeHome({}) })).toBeUndefined();
});

it('reads no expiry from what is not a token', () => {
  for (const text of ['', 'sk-x', 'a.b.c', `a.${Buffer.from('[]').toString('base64url')}.c`])
    expect(expiryOfJwt(text)).toBeUndefined();
});

it('takes the token of Copilot CLI from its variables, then from gh, and asks gh again when it is refused', async () => {
  const tokens = ['first', 'first', 'first', 'second', 'second'];
  const asked: string[] = [];
  const run = async (argv: readonly string[]) => {
    asked.push(argv.join(' '));
    const token = tokens.shift();
    return token === undefined ? { status: 1, stdout: '' } : { status: 0, stdout: `${token}\n` };
  };
  const env = { GITHUB_TOKEN: 'c', GH_TOKEN: ' b ', COPILOT_API_URL: 'http://x/' };
  const own = await findCopilotCredential({ env: { ...env, COPILOT_GITHUB_TOKEN: 'a' }, run });
  expect(own).toMatchObject({ name: 'COPILOT_GITHUB_TOKEN', cloud: { url: 'http://x', api: { kind: 'copilot' } } });
  expect((await findCopilotCredential({ env, run }))?.name).toBe('GH_TOKEN');
  expect(asked).toEqual([]);
  const gh = await findCopilotCredential({ env: {}, run });
  expect(gh).toMatchObject({ name: 'gh auth login', kind: 'oauth', cloud: { url: 'https://api.githubcopilot.com' } });
  expect(await gh?.current()).toEqual({ kind: 'oauth', value: 'first' });
  await expect(gh?.refresh()).rejects.toMatchObject({ code: 'CREDENTIAL_EXPIRED' });
  expect(await gh?.refresh()).toEqual({ kind: 'oauth', value: 'second' });
  await expect(gh?.refresh()).rejects.toThrow('the provider refused the token');
  await expect(gh?.refresh()).rejects.toThrow('prints no token any more');
  expect(new Set(asked)).toEqual(new Set(['gh auth token --hostname github.com']));
  expect(await findCopilotCredential({ env: {}, run })).toBeUndefined();
});

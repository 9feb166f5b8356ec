import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findCredential } from '../../../src/agents/claude/credentials/credentials.ts';
import type { CredentialSource } from '../../../src/core/types/agent/credential.ts';
import { type DarwinPrograms, darwinPrograms } from '../../support/darwin/programs.ts';
import { type OAuthEndpoint, startOAuthEndpoint } from '../../support/stand-in/oauth-endpoint.ts';

const SERVICE = 'Claude Code-credentials';
let home = '';
let darwin: DarwinPrograms;
let endpoint: OAuthEndpoint;

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'rc-keychain-'));
  mkdirSync(join(home, '.claude'));
  darwin = darwinPrograms();
  endpoint = await startOAuthEndpoint('refresh-0');
});
afterEach(async () => {
  await endpoint[Symbol.asyncDispose]();
  darwin[Symbol.dispose]();
  rmSync(home, { recursive: true });
});

interface StoredItem {
  readonly claudeAiOauth: Record<string, unknown>;
  readonly mcpOAuth: Record<string, unknown>;
}

function logIn(expiresInMs: number, mcpBytes: number): void {
  const claudeAiOauth = { accessToken: 'access-0', refreshToken: 'refresh-0', expiresAt: Date.now() + expiresInMs };
  const item = { claudeAiOauth, mcpOAuth: { 'server|1': { accessToken: 'm'.repeat(mcpBytes) } } };
  writeFileSync(darwin.item(SERVICE), JSON.stringify(item));
}

function stored(): StoredItem {
  return JSON.parse(readFileSync(darwin.item(SERVICE), 'utf8')) as StoredItem;
}

async function find(): Promise<CredentialSource> {
  const managedSettings = join(home, 'none');
  const found = await findCredential({ env: {}, home, platform: 'darwin', endpoint: endpoint.url, managedSettings });
  if (found === undefined) throw new Error('no credential found');
  return found;
}

it('refreshes a login that `security -i` can store, the tokens in no argument', async () => {
  logIn(-1000, 1000);
  expect(await (await find()).current()).toMatchObject({ value: 'access-1' });
  expect(stored().claudeAiOauth).toMatchObject({ accessToken: 'access-1', refreshToken: 'refresh-1' });
  expect(stored().mcpOAuth).toEqual({ 'server|1': { accessToken: 'm'.repeat(1000) } });
  const calls = readFileSync(join(darwin.state, 'calls'), 'utf8');
  expect(calls).toContain('["-i"]');
  expect(calls).not.toMatch(/access-|refresh-|616363657373/);
});

it('spends no refresh token of a login that is too long to store', async () => {
  logIn(-1000, 2000);
  const before = stored();
  const failure = await (await find()).current().catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: 'CREDENTIAL_EXPIRED' });
  expect((failure as { hint: string }).hint).toContain('Run `claude` on the host');
  expect(endpoint.asked).toEqual([]);
  expect(stored()).toEqual(before);
});

it('keeps room for longer tokens: a login of every length is refreshed whole, or not at all', async () => {
  let refreshed = 0;
  let kept = 0;
  for (const bytes of [1500, 1600, 1700]) {
    logIn(-1000, bytes);
    endpoint.valid = 'refresh-0';
    const asked = endpoint.asked.length;
    const secret = await (await find()).current().catch(() => undefined);
    if (secret === undefined) expect(endpoint.asked).toHaveLength(asked);
    expect(stored().claudeAiOauth['accessToken']).toBe(secret?.value ?? 'access-0');
    expect(stored().mcpOAuth).toEqual({ 'server|1': { accessToken: 'm'.repeat(bytes) } });
    if (secret === undefined) kept += 1;
    else refreshed += 1;
  }
  expect([refreshed > 0, kept > 0]).toEqual([true, true]);
});

it('serves such a login until it expires, and takes what Claude on the host has refreshed', async () => {
  logIn(60_000, 2000);
  const source = await find();
  expect(await source.current()).toMatchObject({ value: 'access-0' });
  await expect(source.refresh()).rejects.toMatchObject({ code: 'CREDENTIAL_EXPIRED' });
  const item = {
    ...stored(),
    claudeAiOauth: { accessToken: 'access-9', refreshToken: 'r', expiresAt: Date.now() + 1e7 },
  };
  writeFileSync(darwin.item(SERVICE), JSON.stringify(item));
  expect(await source.refresh()).toMatchObject({ value: 'access-9' });
  expect(endpoint.asked).toEqual([]);
});

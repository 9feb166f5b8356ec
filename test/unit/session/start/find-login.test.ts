import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { DEFAULTS } from '../../../../src/core/config/settings.ts';
import type { Program } from '../../../../src/core/types/plan.ts';
import { findLogin, requireLogin } from '../../../../src/session/start/find-login.ts';

const home = mkdtempSync(path.join(tmpdir(), 'run-claude-find-login-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const AGENT: Program = { kind: 'claude', args: [], print: false };
const OTHERS: readonly Program[] = [{ kind: 'exec', argv: ['ls'] }, { kind: 'shell', args: [] }, { kind: 'kept' }];
const KEY = { ANTHROPIC_API_KEY: 'sk-ant-test' };

const loginOf = (program: Program, env: Readonly<Record<string, string>>, credentials = DEFAULTS.credentials) =>
  findLogin({ program, policy: { ...DEFAULTS, credentials } }, env, { home, platform: 'linux' });

it('an agent without a login does not start, and the words say how to log in', async () => {
  const { words, source } = await loginOf(AGENT, {});
  expect(words).toMatch(/^none found\. Log in/);
  const refused = { code: 'CREDENTIAL_MISSING', hint: expect.stringContaining('--credentials none') };
  await expect(requireLogin({ program: AGENT, policy: DEFAULTS }, source, {})).rejects.toMatchObject(refused);
  const policy = { ...DEFAULTS, credentials: 'none' } as const;
  await requireLogin({ program: AGENT, policy }, undefined, {});
});

it.each(OTHERS)('$kind needs no login, and names no credential that it does not get', async (program) => {
  const { words, source } = await loginOf(program, {});
  expect(words).toBeUndefined();
  await requireLogin({ program, policy: DEFAULTS }, source, {});
  expect((await loginOf(program, KEY)).words).toMatch(/ANTHROPIC_API_KEY.*, broker$/);
  expect((await loginOf(program, KEY, 'none')).words).toBe('none');
});

it.each([
  [{ HTTPS_PROXY: 'socks5://127.0.0.1:1080' }, 'HTTPS_PROXY is not an http:// or https:// address'],
  [{ all_proxy: 'socks5h://127.0.0.1:1080' }, 'all_proxy is not an http:// or https:// address'],
  [{ HTTPS_PROXY: 'https://proxy.example:3128' }, 'HTTPS_PROXY: a proxy reached over TLS is not supported'],
  [{ ANTHROPIC_BASE_URL: 'model.example' }, 'ANTHROPIC_BASE_URL is not an http:// or https:// address'],
  [{ NODE_EXTRA_CA_CERTS: '/nonexistent.pem' }, 'NODE_EXTRA_CA_CERTS: cannot read /nonexistent.pem'],
])('no gateway starts with %j: refused before anything is made', async (env, message) => {
  const [program = AGENT] = OTHERS;
  await expect(requireLogin({ program, policy: DEFAULTS }, undefined, env)).rejects.toMatchObject({ message });
  // Without a gateway nobody reads it.
  await requireLogin({ program, policy: { ...DEFAULTS, network: 'none' } }, undefined, env);
});

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { CredentialSource } from '../../../../src/core/types/agent/credential.ts';
import type { Plan } from '../../../../src/core/types/plan.ts';
import { credentialForSession, credentialLookup } from '../../../../src/session/stage/credential.ts';

const program = { kind: 'claude', args: [], print: false };
const planWith = (policy: object): Plan => ({ program, policy }) as unknown as Plan;

it('searches the host once; the source that it finds can reread the login', async () => {
  const home = mkdtempSync(path.join(tmpdir(), 'run-claude-credential-'));
  try {
    const writeLogin = (accessToken: string): void => {
      const claudeAiOauth = { accessToken, refreshToken: 'r', expiresAt: Date.now() + 3_600_000, scopes: [] };
      writeFileSync(path.join(home, '.claude', '.credentials.json'), JSON.stringify({ claudeAiOauth }));
    };
    mkdirSync(path.join(home, '.claude'));
    writeLogin('first');
    const session = planWith({ credentials: 'broker' });
    const lookup = credentialLookup({}, { home, platform: 'linux' });
    const found = await lookup(session);
    expect((await found?.current())?.value).toBe('first');
    writeLogin('second');
    expect(await lookup(session)).toBe(found);
    expect((await found?.current())?.value).toBe('second');
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});

it('does not search with --credentials none, renews on request, and refuses a cloud credential as a file', async () => {
  const calls: string[] = [];
  const source = (more: Partial<CredentialSource>) => async () => {
    calls.push('found');
    return { name: 'x', refresh: async () => void calls.push('refreshed'), ...more } as unknown as CredentialSource;
  };
  expect(await credentialForSession(planWith({ credentials: 'none' }), { findCredential: source({}) })).toBe(undefined);
  expect(calls).toEqual([]);
  const fresh = planWith({ credentials: 'broker', freshCreds: true });
  await credentialForSession(fresh, { findCredential: source({}) });
  await credentialForSession(fresh, { findCredential: source({ fixed: true }) });
  expect(calls).toEqual(['found', 'refreshed', 'found']);
  const cloud = { cloud: {} } as unknown as Partial<CredentialSource>;
  await expect(
    credentialForSession(planWith({ credentials: 'file' }), { findCredential: source(cloud) }),
  ).rejects.toMatchObject({ status: 2 });
});

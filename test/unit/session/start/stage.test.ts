import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SessionDeps } from '../../../../src/session/start/deps.ts';
import { credentialOf } from '../../../../src/session/start/stage.ts';
import type { CredentialSource } from '../../../../src/types/credential.ts';
import type { Plan } from '../../../../src/types/plan.ts';

let home = '';
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'rc-credential-'));
  mkdirSync(join(home, '.claude'));
  const claudeAiOauth = { accessToken: 'a', refreshToken: 'b', expiresAt: Date.now() + 3_600_000, scopes: [] };
  writeFileSync(join(home, '.claude/.credentials.json'), JSON.stringify({ claudeAiOauth }));
});
afterEach(() => rmSync(home, { recursive: true }));

const planOf = (policy: Partial<Plan['policy']> = {}): Plan =>
  ({
    program: { kind: 'claude', args: [], print: false },
    policy: { credentials: 'broker', ...policy },
  }) as unknown as Plan;
const depsOf = (more: Partial<SessionDeps> = {}): SessionDeps =>
  ({ env: {}, host: { home, platform: 'linux' }, ...more }) as SessionDeps;

/** A login that counts how often it is refreshed. */
function login(): CredentialSource & { refreshed: number } {
  const secret = { kind: 'oauth', value: 'x' } as const;
  return {
    name: 'a login',
    kind: 'oauth',
    refreshed: 0,
    current: async () => secret,
    async refresh() {
      this.refreshed++;
      return secret;
    },
  };
}

describe('the credential of a start', () => {
  it('is the one that the command found: no other is looked for', async () => {
    const source = login();
    expect(await credentialOf(planOf(), depsOf({ credential: { source } }))).toBe(source);
    expect(await credentialOf(planOf(), depsOf({ credential: { source: undefined } }))).toBeUndefined();
  });

  it('is looked for where the command found none before', async () => {
    expect((await credentialOf(planOf(), depsOf()))?.name).toBe('~/.claude/.credentials.json');
  });

  it('is absent where the policy wants none', async () => {
    expect(await credentialOf(planOf({ credentials: 'none' }), depsOf())).toBeUndefined();
    const source = login();
    const found = await credentialOf(planOf({ credentials: 'none' }), depsOf({ credential: { source } }));
    expect(found).toBeUndefined();
  });

  it('is refreshed where the policy asks for it', async () => {
    const source = login();
    await credentialOf(planOf({ freshCreds: true }), depsOf({ credential: { source } }));
    expect(source.refreshed).toBe(1);
  });
});

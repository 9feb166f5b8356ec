import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DEFAULTS } from '../../../../src/core/config/settings.ts';
import type { Policy } from '../../../../src/core/types/policy.ts';
import type { SecretFile } from '../../../../src/core/types/secret/secret-file.ts';
import type { SessionRecord } from '../../../../src/core/types/session.ts';
import { canAttach } from '../../../../src/session/later/orphaned-agent.ts';
import { rememberSecrets } from '../../../../src/session/record/secrets/decoys.ts';

let sessionDir = '';
beforeEach(() => {
  sessionDir = mkdtempSync(path.join(tmpdir(), 'run-claude-orphan-'));
});
afterEach(() => rmSync(sessionDir, { recursive: true }));

const recordOf = (policy: Partial<Policy>): SessionRecord =>
  ({ plan: { policy: { ...DEFAULTS, credentials: 'broker', ...policy }, sessionDir } }) as unknown as SessionRecord;
const withSecret = (state: SecretFile['state']): void =>
  rememberSecrets(sessionDir, {
    secrets: { files: [{ path: '.env', reason: 'environment file', state }], decoys: [] },
  });

it.each(['masked', 'unmasked'] as const)('a bind session with a file that is %s, whose watch has ended', (state) => {
  withSecret(state);
  expect(canAttach(recordOf({ mode: 'bind' }))).toBe(state === 'unmasked');
  expect(canAttach(recordOf({ mode: 'copy' }))).toBe(true);
});

it('no bind session with --mask, and none whose network cannot be made again', () => {
  expect(canAttach(recordOf({ mode: 'bind' }))).toBe(true);
  expect(canAttach(recordOf({ mode: 'bind', mask: ['x'] }))).toBe(false);
  expect(canAttach(recordOf({ mode: 'copy', mask: ['x'] }))).toBe(true);
  expect(canAttach(recordOf({ mode: 'copy', network: 'open' }))).toBe(false);
  expect(canAttach(recordOf({ mode: 'copy', credentials: 'file' }))).toBe(false);
});

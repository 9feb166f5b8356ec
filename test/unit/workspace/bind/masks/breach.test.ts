import { expect, it } from 'vitest';
import { breachError, breachOfCovered, unwatchedError } from '../../../../../src/workspace/bind/masks/breach.ts';

const FILE = { dev: 1n, ino: 2n, nlink: 1n };

it.each([
  ['the same file', FILE, undefined],
  ['fewer names', { ...FILE, nlink: 0n }, undefined],
  ['no file', undefined, 'removed'],
  ['another inode', { ...FILE, ino: 3n }, 'replaced'],
  ['another file system', { ...FILE, dev: 3n }, 'replaced'],
  ['one more name', { ...FILE, nlink: 2n }, 'linked'],
])('%s', (_what, now, kind) => {
  expect(breachOfCovered('.env', FILE, now)).toEqual(kind === undefined ? undefined : { kind, path: '.env' });
});

it('says what happened, and how to go on', () => {
  const error = breachError({ kind: 'appeared', path: '.env.local' });
  expect([error.code, error.status]).toEqual(['MASK_BROKEN', 125]);
  expect(error.message).toMatch(/^\.env\.local appeared .* Nothing shows whether you or the agent made it$/);
  expect(error.hint).toContain('Start a new session');
  expect(error.hint).not.toContain('--unmask');
  const secret = breachError({ kind: 'secret', path: 'my keys/.env' });
  expect([secret.message, secret.hint]).toEqual([
    expect.stringMatching(/^my keys\/\.env appeared .* a secret that the agent had not seen/),
    expect.stringMatching(/it masks the file\. If the agent made it, .* --unmask 'my keys\/\.env'\.$/),
  ]);
  expect(breachError({ kind: 'unwatched', why: 'ENOSPC' }).message).toContain('can no longer be watched: ENOSPC');
  expect(unwatchedError('too many').hint).toMatch(/--copy in place of --bind.*--unmask '\*\*'/);
});

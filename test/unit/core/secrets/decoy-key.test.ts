import { execFileSync } from 'node:child_process';
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished, test } from 'vitest';
import { deriveDecoy } from '../../../../src/core/secrets/decoy.ts';
import { opensshKey } from '../../../../src/core/secrets/openssh-key.ts';

const KEY = Buffer.alloc(32, 7);
const decoyOf = (value: string, at = 'a.key'): string => deriveDecoy(KEY, { path: at }, value);

const KINDS: readonly (readonly [string, () => KeyObject])[] = [
  ['RSA', () => generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey],
  ...['prime256v1', 'secp384r1', 'secp521r1', 'secp256k1'].map(
    (namedCurve) => [namedCurve, () => generateKeyPairSync('ec', { namedCurve }).privateKey] as const,
  ),
  ['ed25519', () => generateKeyPairSync('ed25519').privateKey],
  ['x25519', () => generateKeyPairSync('x25519').privateKey],
  ['ed448', () => generateKeyPairSync('ed448').privateKey],
  ['x448', () => generateKeyPairSync('x448').privateKey],
];
const kindOf = (key: KeyObject): unknown => [key.asymmetricKeyType, key.asymmetricKeyDetails?.namedCurve];

describe.each(KINDS)('a key of %s', (_kind, make) => {
  const key = make();
  const own = key.asymmetricKeyType === 'rsa' ? 'pkcs1' : key.asymmetricKeyType === 'ec' ? 'sec1' : 'pkcs8';

  test.each([...new Set(['pkcs8', own] as const)])('becomes another one that loads, as %s', (type) => {
    const real = key.export({ type, format: 'pem' }).toString().trimEnd();
    const decoy = decoyOf(real);
    expect(decoy.split('\n')[0]).toBe(real.split('\n')[0]);
    expect(kindOf(createPrivateKey(decoy))).toEqual(kindOf(key));
    expect(decoy).not.toBe(real);
    expect(decoyOf(real)).toBe(decoy);
  });
});

test.each(KINDS.filter(([kind]) => /^(?:RSA|prime256v1|secp[35].*|ed25519)$/.test(kind)))(
  'a key of %s becomes another one that ssh reads',
  (_kind, make) => {
    const body = opensshKey(make().export({ format: 'jwk' }), Buffer.alloc(4, 1), 'me@host');
    const lines = body?.toString('base64').match(/.{1,70}/g) ?? [];
    const real = ['-----BEGIN OPENSSH PRIVATE KEY-----', ...lines, '-----END OPENSSH PRIVATE KEY-----'].join('\n');
    const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-key-'));
    onTestFinished(() => rmSync(dir, { recursive: true }));
    const publicOf = (text: string): string => {
      writeFileSync(path.join(dir, 'key'), `${text}\n`, { mode: 0o600 });
      const answer = execFileSync('ssh-keygen', ['-y', '-f', path.join(dir, 'key')], { encoding: 'utf8' });
      return answer.split(' ').at(0) ?? '';
    };
    expect(publicOf(decoyOf(real))).toBe(publicOf(real));
    expect(decoyOf(real)).not.toContain(lines[3]);
  },
);

it('of a curve that OpenSSH does not have there is no key in its form', () => {
  const key = generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey.export({ format: 'jwk' });
  expect(opensshKey(key, Buffer.alloc(4), '')).toBeUndefined();
});

it('with line ends that are written as \\n a key loads too, and an encrypted one keeps its size', () => {
  const real = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey;
  const pem = real.export({ type: 'pkcs8', format: 'pem' }).toString().trimEnd();
  const escaped = decoyOf(pem.replaceAll('\n', '\\n'));
  expect(escaped).not.toContain('\n');
  expect(createPrivateKey(escaped.replaceAll('\\n', '\n')).asymmetricKeyType).toBe('rsa');
  const locked = real.export({ type: 'pkcs8', format: 'pem', cipher: 'aes256', passphrase: 'x' }).toString().trimEnd();
  expect(Math.abs(decoyOf(locked).length - locked.length)).toBeLessThan(4);
});

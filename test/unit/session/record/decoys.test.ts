import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readDecoys, readSecretFiles, rememberSecrets } from '../../../../src/session/record/secrets/decoys.ts';

function directory(): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'decoys-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  return dir;
}

test('the record of decoys is private, and is read as it was written', () => {
  const dir = directory();
  const decoys = [
    { path: '.env', name: 'DB_PASSWORD', value: 'xkqmvpe4' },
    { path: 'certs/dev.key', value: 'x' },
  ];
  const files = [{ path: '.env', reason: 'environment file', state: 'masked' as const }];
  rememberSecrets(dir, { secrets: { files, decoys } });
  expect(readDecoys(dir)).toEqual(decoys);
  expect(readSecretFiles(dir)).toEqual(files);
  expect(statSync(path.join(dir, 'decoys.json')).mode & 0o777).toBe(0o600);
});

test('a session without a record has no decoys, and a damaged record is an error', () => {
  const dir = directory();
  expect([readDecoys(dir), readSecretFiles(dir)]).toEqual([[], []]);
  rememberSecrets(dir, { secrets: { files: [], decoys: [] } });
  writeFileSync(path.join(dir, 'decoys.json'), readFileSync(path.join(dir, 'decoys.json'), 'utf8').slice(0, -4));
  expect(() => readDecoys(dir)).toThrow(/decoys/);
});

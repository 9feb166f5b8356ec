import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openServiceLog, readServiceLog, serviceLogs } from '../../../../src/environment/services/service-log.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-service-log-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

it('keeps what a service prints, in a resumed session too', () => {
  expect(readServiceLog(dir, 'db')).toBeUndefined();
  openServiceLog(dir, 'db').write(Buffer.from('one\n'));
  openServiceLog(dir, 'db').write(Buffer.from('two\n'));
  openServiceLog(dir, 'cache').write(Buffer.from('x'));
  expect(readServiceLog(dir, 'db')).toBe('one\ntwo\n');
  expect(serviceLogs(dir)).toEqual(['cache', 'db']);
});

it('has the last ten lines of this run', () => {
  openServiceLog(dir, 'db').write(Buffer.from('earlier run\n'));
  const log = openServiceLog(dir, 'db');
  for (let i = 1; i <= 30; i++) log.write(Buffer.from(`line ${i}\n`));
  expect(log.lastLines().split('\n')).toEqual(Array.from({ length: 10 }, (_, i) => `line ${i + 21}`));
});

it('is bounded, and keeps the newest part', () => {
  for (let run = 0; run < 3; run++) {
    const log = openServiceLog(dir, 'db');
    for (let i = 0; i < 40; i++) log.write(Buffer.alloc(100_000, 97 + run));
  }
  openServiceLog(dir, 'db').write(Buffer.alloc(9_000_000, 122));
  const services = path.join(dir, 'services');
  const bytes = readdirSync(services).reduce((sum, file) => sum + statSync(path.join(services, file)).size, 0);
  expect(bytes).toBeLessThanOrEqual(4 * 1024 * 1024);
  expect(readServiceLog(dir, 'db')?.at(-1)).toBe('z');
  expect(serviceLogs(dir)).toEqual(['db']);
});

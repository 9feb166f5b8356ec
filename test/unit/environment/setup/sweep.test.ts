import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { processIdentity } from '../../../../src/core/host/processes/process.ts';
import { environmentsDir, markerOf } from '../../../../src/environment/setup/make-environment.ts';
import { environmentLabels, unusedEnvironments } from '../../../../src/environment/setup/sweep.ts';

const DAY = 86_400_000;

it('removes environments that nobody used for long, and those whose setup did not end', async () => {
  const cache = mkdtempSync(path.join(tmpdir(), 'run-claude-sweep-'));
  onTestFinished(() => rmSync(cache, { recursive: true, force: true }));
  const now = Date.now();
  const make = (address: string, ageDays: number, isMade: boolean): string => {
    const dir = path.join(environmentsDir(cache), address);
    mkdirSync(dir, { recursive: true });
    const when = new Date(now - ageDays * DAY);
    if (isMade) writeFileSync(markerOf(dir), '{}');
    for (const one of [dir, ...(isMade ? [markerOf(dir)] : [])]) utimesSync(one, when, when);
    return dir;
  };
  const [old, used, unfinished] = [
    make('a'.repeat(32), 40, true),
    make('b'.repeat(32), 40, true),
    make('c'.repeat(32), 2, false),
  ];
  make('d'.repeat(32), 3, true);
  make('e'.repeat(32), 0, false);
  make('other', 99, true);
  const found = unusedEnvironments(cache, [{ address: 'b'.repeat(32), dir: used }], now, 30 * DAY);
  expect(found.map(({ dir, why }) => [dir, why])).toEqual([
    [old, 'unused for 40 days'],
    [unfinished, 'its setup did not end'],
  ]);
  const [first] = found;
  const recent = new Date(now);
  utimesSync(markerOf(old), recent, recent);
  await first?.remove();
  expect(existsSync(old), 'a start used it since it was listed').toBe(true);
  utimesSync(markerOf(old), 0, 0);
  writeFileSync(
    `${old}.lock`,
    JSON.stringify({ version: 1, holder: processIdentity(), since: recent.toISOString(), what: 'x', token: 'x' }),
  );
  await expect(first?.remove()).rejects.toThrow();
  rmSync(`${old}.lock`);
  expect(existsSync(markerOf(old))).toBe(true);
  for (const { remove } of found) await remove();
  expect([old, used].map((dir) => existsSync(dir))).toEqual([false, true]);
  expect(environmentLabels(cache)).toEqual(['b', 'd', 'e'].map((letter) => `env-${letter.repeat(32)}`));
});

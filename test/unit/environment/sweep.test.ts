import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { environmentsDir, markerOf } from '../../../src/environment/make-environment.ts';
import { environmentLabels, unusedEnvironments } from '../../../src/environment/sweep.ts';

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
    make('a'.repeat(16), 40, true),
    make('b'.repeat(16), 40, true),
    make('c'.repeat(16), 2, false),
  ];
  make('d'.repeat(16), 3, true);
  make('e'.repeat(16), 0, false);
  make('other', 99, true);
  const found = unusedEnvironments(cache, [{ address: 'b'.repeat(16), dir: used }], now, 30 * DAY);
  expect(found.map(({ dir, why }) => [dir, why])).toEqual([
    [old, 'unused for 40 days'],
    [unfinished, 'its setup did not end'],
  ]);
  for (const { remove } of found) await remove();
  expect([old, used].map((dir) => existsSync(dir))).toEqual([false, true]);
  expect(environmentLabels(cache)).toEqual(['b', 'd', 'e'].map((letter) => `env-${letter.repeat(16)}`));
});

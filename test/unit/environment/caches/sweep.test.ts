import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { knownCaches, markerOf } from '../../../../src/environment/caches/marker.ts';
import { removeCache, unusedCaches } from '../../../../src/environment/caches/sweep.ts';

const DAY_MS = 86_400_000;
const KEPT_MS = 30 * DAY_MS;

/** A directory of caches: each of these ages, in days; one without a marker was not filled to the end. */
function cachesOf(ages: Readonly<Record<string, { readonly days: number; readonly filled: boolean }>>): string {
  const cacheDir = realpathSync(mkdtempSync(path.join(tmpdir(), 'run-claude-sweep-')));
  onTestFinished(() => rmSync(cacheDir, { recursive: true }));
  for (const [digit, { days, filled }] of Object.entries(ages)) {
    const dir = path.join(cacheDir, 'caches', digit.repeat(32));
    mkdirSync(path.join(dir, 'archives'), { recursive: true });
    const marker = {
      version: 1,
      ecosystem: 'npm',
      project: '/p',
      lockFiles: [],
      image: 'i',
      bytes: 1,
      filled: '',
      paths: [],
    };
    if (filled) writeFileSync(markerOf(dir), JSON.stringify(marker));
    const usedMs = (Date.now() - days * DAY_MS) / 1000;
    utimesSync(filled ? markerOf(dir) : dir, usedMs, usedMs);
  }
  return cacheDir;
}

const namesOf = (dirs: readonly { readonly dir: string }[]): string[] =>
  dirs.map(({ dir }) => path.basename(dir)[0] ?? '');

it('lists what no start used for a month and no running session uses, and what was not filled to the end', () => {
  const cacheDir = cachesOf({
    a: { days: 31, filled: true },
    b: { days: 29, filled: true },
    c: { days: 32, filled: true },
    d: { days: 2, filled: false },
    e: { days: 0, filled: false },
  });
  const used = [{ ecosystem: 'npm' as const, address: 'c'.repeat(32), dir: '' }];
  expect(namesOf(unusedCaches(cacheDir, used, Date.now(), KEPT_MS)).sort()).toEqual(['a', 'd']);
  expect(namesOf(knownCaches(cacheDir))).toEqual(['e', 'd', 'b', 'a', 'c']);
});

it('a cache that a start used since it was listed stays', async () => {
  const cacheDir = cachesOf({ a: { days: 31, filled: true }, b: { days: 31, filled: true } });
  const unused = unusedCaches(cacheDir, [], Date.now(), KEPT_MS);
  const now = new Date();
  utimesSync(markerOf(path.join(cacheDir, 'caches', 'a'.repeat(32))), now, now);
  for (const { remove } of unused) await remove();
  expect(namesOf(knownCaches(cacheDir))).toEqual(['a']);
});

it('removes the volume of an engine with the directory', async () => {
  const cacheDir = cachesOf({ a: { days: 0, filled: true } });
  const removed: string[] = [];
  const engine = { removeVolume: async (name: string) => void removed.push(name) };
  const [cache] = knownCaches(cacheDir);
  if (cache !== undefined) await removeCache(cacheDir, cache, engine);
  expect([removed, existsSync(cache?.dir ?? '/')]).toEqual([[`run-claude-cache-${'a'.repeat(32)}`], false]);
});

import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type DiskSource, type Written, watchSpace } from '../../../src/workspace/disk.ts';

const GB = 1024 ** 3;
const limits = { bytes: GB, entries: 1000, reserveBytes: 2 * GB };
let free = 100 * GB;
let written: Written = { bytes: 0, entries: 0 };
let walks = 0;
const source: DiskSource = {
  space: async () => ({ bytes: 200 * GB, available: free, free, inodes: 1e9, inodesFree: 1e8 }),
  written: async () => {
    walks++;
    return written;
  },
};
let log: string[];
const hooks = { reached: (why: string) => void log.push(why), fell: () => void log.push('fell') };

beforeEach(() => {
  vi.useFakeTimers();
  log = [];
  free = 100 * GB;
  walks = 0;
});
afterEach(() => vi.useRealTimers());
const seconds = (count: number) => vi.advanceTimersByTimeAsync(count * 1000);

it('holds the session for what it wrote itself, measured only when the disk lost as much', async () => {
  const watch = watchSpace(source, limits, hooks);
  await seconds(5);
  expect(walks).toBe(0);
  // Someone else's ten gigabytes.
  free -= 10 * GB;
  await seconds(3);
  expect([walks > 0, log]).toEqual([true, []]);
  written = { bytes: 1.5 * GB, entries: 3 };
  await seconds(3);
  expect(log).toEqual(['it has written 1.5 GB (--disk allows 1.0 GB)']);
  watch.allowMore();
  await seconds(3);
  expect(log.at(-1)).toBe('fell');
  written = { bytes: GB, entries: 5000 };
  await seconds(3);
  expect(log.at(-1)).toBe('it has made 5000 files (at most 2000)');
  watch.stop();
  written = { bytes: 0, entries: 0 };
  const before = log.length;
  await seconds(5);
  expect(log).toHaveLength(before);
});

it('keeps a reserve free, whoever took the rest', async () => {
  written = { bytes: 0, entries: 0 };
  const watch = watchSpace(source, limits, hooks);
  await seconds(2);
  free = 1.5 * GB;
  await seconds(2);
  free = 50 * GB;
  await seconds(2);
  expect(log).toEqual(['only 1.5 GB of the disk are free', 'fell']);
  watch.stop();
});

import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { RunClaudeError } from '../../../../src/core/errors.ts';
import { OVERSHOOT_MB } from '../../../../src/core/text/disk-room.ts';
import { type DiskSource, type Written, watchSpace } from '../../../../src/workspace/collector/disk.ts';

const GB = 1024 ** 3;
const limits = { bytes: GB, entries: 1000, reserveBytes: 2 * GB };
let free = 100 * GB;
let written: Written = { bytes: 0, entries: 0 };
let walks = 0;
let inodes = 1e9;
const source: DiskSource = {
  space: async () => ({ bytes: 200 * GB, available: free, free, inodes, inodesFree: inodes / 10 }),
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
  inodes = 1e9;
});
afterEach(() => vi.useRealTimers());
const seconds = (count: number) => vi.advanceTimersByTimeAsync(count * 1000);

it('pauses the session for what it wrote itself, and measures that only when the disk lost as much', async () => {
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

it('keeps a reserve free, also where other programs filled the rest', async () => {
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

it('counts entries with a scan where the file system reports no number of inodes, and scans seldom while there are few', async () => {
  inodes = 0;
  written = { bytes: 0, entries: 10 };
  const watch = watchSpace(source, { ...limits, entries: 2_000_000 }, hooks);
  await seconds(120);
  // 40 seconds to make two million.
  expect(walks).toBeGreaterThan(1);
  expect(walks).toBeLessThan(6);
  written = { bytes: 0, entries: 1_900_000 };
  await seconds(45);
  walks = 0;
  await seconds(20);
  expect([walks > 5, log]).toEqual([true, []]);
  written = { bytes: 0, entries: 2_000_001 };
  await seconds(5);
  expect(log).toEqual(['it has made 2000001 files (at most 2000000)']);
  written = { bytes: 0, entries: 3 };
  await seconds(5);
  expect(log.at(-1)).toBe('fell');
  watch.stop();
});

it('asks again when twice the limit is still too little', async () => {
  written = { bytes: 5 * GB, entries: 3 };
  const watch = watchSpace(source, limits, hooks);
  await seconds(2);
  free -= 5 * GB;
  await seconds(3);
  expect(log).toEqual(['it has written 5.0 GB (--disk allows 1.0 GB)']);
  watch.allowMore();
  await seconds(3);
  expect(log.slice(1)).toEqual(['it has written 5.0 GB (--disk allows 2.0 GB)']);
  watch.allowMore();
  watch.allowMore();
  await seconds(3);
  expect(log.slice(2)).toEqual(['fell']);
  watch.stop();
});

it('is not misled by space that other programs free between two measurements', async () => {
  written = { bytes: 0, entries: 0 };
  const watch = watchSpace(source, limits, hooks);
  await seconds(2);
  free += 10 * GB;
  await seconds(3);
  const before = walks;
  await seconds(10);
  // Once measured, it is only looked at again when the disk has lost as much.
  expect([before > 0, walks]).toEqual([true, before]);
  free -= 1.5 * GB;
  written = { bytes: 1.5 * GB, entries: 3 };
  await seconds(3);
  expect(log).toEqual(['it has written 1.5 GB (--disk allows 1.0 GB)']);
  watch.stop();
});

it('treats more entries than it can list as too many', async () => {
  const all = async (): Promise<Written> => {
    throw new RunClaudeError('COLLECTOR_TOO_MANY', 'more than 2000000 entries in home');
  };
  const watch = watchSpace({ ...source, written: all }, limits, hooks);
  await seconds(2);
  free -= 2 * GB;
  await seconds(3);
  expect(log).toEqual(['it has made 1001 files (at most 1000)']);
  watch.stop();
});

it('measures again after a measurement that failed, and stops once its collector is lost', async () => {
  written = { bytes: 1.5 * GB, entries: 3 };
  let failure: string | undefined;
  let asked = 0;
  const space = async () => {
    asked++;
    if (failure !== undefined) throw new RunClaudeError(failure as 'COLLECTOR_READ', 'it failed');
    return source.space();
  };
  const watch = watchSpace({ ...source, space }, limits, hooks);
  await seconds(2);
  failure = 'COLLECTOR_READ';
  await seconds(3);
  failure = undefined;
  free -= 2 * GB;
  await seconds(3);
  expect(log).toEqual(['it has written 1.5 GB (--disk allows 1.0 GB)']);
  failure = 'COLLECTOR_LOST';
  await seconds(2);
  const before = asked;
  await seconds(5);
  expect(asked).toBe(before);
  watch.stop();
});

it.each([
  ['a large disk', 100 * GB, GB],
  ['a disk of which half is left for the collection', 1.2 * GB, 5 * GB],
  ['a small limit', 100 * GB, 64 * 2 ** 20],
])('notices a writer of 2.5 GB/s before it wrote more than is kept for that: %s', async (_, first, bytes) => {
  const rate = (256 * 2 ** 20) / 100;
  const since = Date.now();
  let polls = 0;
  const fast: DiskSource = {
    async space() {
      polls++;
      const now = first - rate * (Date.now() - since);
      return { bytes: 200 * GB, available: now, free: now, inodes: 1e9, inodesFree: 1e8 };
    },
    written: async () => ({ bytes: rate * (Date.now() - since), entries: 3 }),
  };
  const reached: number[] = [];
  const watch = watchSpace(
    fast,
    { ...limits, bytes },
    {
      reached: () => void reached.push(rate * (Date.now() - since)),
      fell: () => undefined,
    },
  );
  await seconds(1);
  watch.stop();
  const limit = Math.min(bytes, first / 2 - OVERSHOOT_MB * 2 ** 20);
  expect(reached[0]).toBeLessThanOrEqual(limit + 64 * 2 ** 20);
  // What it writes until it is stopped, 75 ms later, can be stored a second time.
  expect((reached[0] ?? 0) + 75 * rate).toBeLessThanOrEqual(first / 2);
  expect(polls).toBeLessThan(45);
});

it.each([
  [3 * GB, 64 * 2 ** 20, 2 * GB],
  [1.2 * GB, 64 * 2 ** 20, 1.2 * GB - 64 * 2 ** 20],
  [1.2 * GB, 5 * GB, 0.6 * GB + 256 * 2 ** 20],
])('of a disk with %d bytes and a limit of %d keeps %d', async (first, bytes, reserve) => {
  free = first;
  written = { bytes: 0, entries: 0 };
  const watch = watchSpace(source, { ...limits, bytes }, hooks);
  await seconds(2);
  free = reserve + 2 * 2 ** 20;
  await seconds(2);
  expect(log).toEqual([]);
  free = reserve - 2 * 2 ** 20;
  await seconds(2);
  expect(log).toEqual([expect.stringMatching(/^only /)]);
  watch.stop();
});

it('asks the disk once a second while the limit is far', async () => {
  let polls = 0;
  const idle: DiskSource = {
    ...source,
    space() {
      polls++;
      return source.space();
    },
  };
  const watch = watchSpace(idle, { ...limits, bytes: 10 * GB }, hooks);
  await seconds(10);
  watch.stop();
  expect(polls).toBeLessThanOrEqual(11);
});

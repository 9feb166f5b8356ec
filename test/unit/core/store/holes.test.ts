import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, vi } from 'vitest';
import { openContentStore } from '../../../../src/core/store/content.ts';
import { dataRuns, isHole } from '../../../../src/core/store/holes.ts';

it('leaves out every block of zeros, so that a file takes no more disk space than before', () => {
  const piece = Buffer.alloc(7 * 4096);
  for (const at of [0, 2 * 4096, 4 * 4096 + 17, 6 * 4096 - 1]) piece[at] = 1;
  const runs = [...dataRuns(piece.subarray(0, 6 * 4096 + 5))];
  expect(runs.map(([from, to]) => [from / 4096, (to - 1) >> 12])).toEqual([
    [0, 0],
    [2, 2],
    [4, 6],
  ]);
  expect(runs.at(-1)).toEqual([4 * 4096, 6 * 4096 + 5]);
  expect([...dataRuns(Buffer.alloc(8192))]).toEqual([]);
});

it('takes only whole blocks of zeros for a hole', () => {
  expect([4096, 8192, 1 << 20].map((length) => isHole(Buffer.alloc(length)))).toEqual([true, true, true]);
  expect([0, 1, 4095].map((length) => isHole(Buffer.alloc(length)))).toEqual([false, false, false]);
  for (const place of [0, 4096, 8191]) {
    const piece = Buffer.alloc(8192);
    piece[place] = 1;
    expect(isHole(piece)).toBe(false);
  }
});

it('stores a file of holes without copying them in memory, and gives it back whole', async () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-holes-'));
  const concat = vi.spyOn(Buffer, 'concat');
  try {
    const store = openContentStore(dir);
    const zeros = Buffer.alloc(1 << 20);
    const chunks = [Buffer.from('begin'), ...Array.from({ length: 64 }, () => zeros), Buffer.from('end'), zeros];
    const { digest, size } = await store.put(chunks);
    const copied = concat.mock.results.reduce((sum, { value }) => sum + (value as Buffer).length, 0);
    expect(size).toBe(8 + 65 * zeros.length);
    expect(copied).toBeLessThan(3 << 20);
    expect((await store.read(digest)).equals(Buffer.concat(chunks))).toBe(true);
    expect(statSync(path.join(dir, digest.slice(0, 2), digest)).blocks * 512).toBeLessThan(1 << 20);
  } finally {
    concat.mockRestore();
    rmSync(dir, { recursive: true });
  }
});

import { expect, it } from 'vitest';
import { dataRuns } from '../../../src/store/holes.ts';

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

import { expect, it } from 'vitest';
import { scanPace } from '../../../../src/session/launch/scan-pace.ts';

/** Scans of the given lengths. Returns the share of the time that they took, the longest pause, and how many counted. */
function run(scans: number, plainMs: number, countingMs: number, changed: (at: number) => boolean) {
  let now = 0;
  let spent = 0;
  let longest = 0;
  let counts = 0;
  const pace = scanPace(() => now);
  for (let at = 0; at < scans; at++) {
    const counting = pace.startScan(true);
    if (counting) counts++;
    now += counting ? countingMs : plainMs;
    spent += counting ? countingMs : plainMs;
    const wait = pace.endScan(changed(at));
    longest = Math.max(longest, wait);
    now += wait;
  }
  return { share: spent / now, longest, counts };
}

const never = (): boolean => false;

it('scans every second while scans are short, however long the count of ignored output takes', () => {
  const { share, longest, counts } = run(5000, 4, 500, never);
  expect([longest, share < 0.01, counts > 10]).toEqual([900, true, true]);
});

it('uses less than 1% of the time on an idle large layer, and scans more often during activity', () => {
  const idle = run(5000, 300, 500, never);
  expect(idle.share).toBeLessThan(0.01);
  const busy = run(5000, 100, 500, () => true);
  expect(busy.longest).toBe(3000);
});

it('counts at the first scan and at the last', () => {
  const pace = scanPace(() => 0);
  expect(pace.startScan(true)).toBe(true);
  pace.endScan(false);
  expect(pace.startScan(true)).toBe(false);
  pace.endScan(false);
  expect(pace.startScan(false)).toBe(true);
});

import { expect, it } from 'vitest';
import { lookPace } from '../../../../src/session/start/look-pace.ts';

/** Looks that take as long as they are said to; gives the part of the time that they took, and the longest wait. */
function run(looks: number, plainMs: number, countingMs: number, changed: (at: number) => boolean) {
  let now = 0;
  let spent = 0;
  let longest = 0;
  let counts = 0;
  const pace = lookPace(() => now);
  for (let at = 0; at < looks; at++) {
    const counting = pace.begin(true);
    if (counting) counts++;
    now += counting ? countingMs : plainMs;
    spent += counting ? countingMs : plainMs;
    const wait = pace.end(changed(at));
    longest = Math.max(longest, wait);
    now += wait;
  }
  return { share: spent / now, longest, counts };
}

const never = (): boolean => false;

it('looks every second where looks are short, however long counting ignored output takes', () => {
  const { share, longest, counts } = run(5000, 4, 500, never);
  expect([longest, share < 0.01, counts > 10]).toEqual([900, true, true]);
});

it('takes less than 1% of the time of an idle large layer, and comes sooner while things happen', () => {
  const idle = run(5000, 300, 500, never);
  expect(idle.share).toBeLessThan(0.01);
  const busy = run(5000, 100, 500, () => true);
  expect(busy.longest).toBe(3000);
});

it('counts at the first look and at the last', () => {
  const pace = lookPace(() => 0);
  expect(pace.begin(true)).toBe(true);
  pace.end(false);
  expect(pace.begin(true)).toBe(false);
  pace.end(false);
  expect(pace.begin(false)).toBe(true);
});

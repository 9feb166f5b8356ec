import { expect } from 'vitest';
import { WORK } from '../../src/text/work.ts';

/** Twice the input takes twice the steps, and what is made once for each. */
const MOST_GROWTH = 2.2;

/**
 * Does some work for an input of n, 2n and 4n, and expects that its steps (src/text/work.ts) grow as the input does.
 * Returns the steps for each.
 */
export function expectLinear(work: (n: number) => void, n = 64): readonly number[] {
  const steps = [n, 2 * n, 4 * n].map((size) => {
    const before = WORK.steps;
    work(size);
    return WORK.steps - before;
  });
  const [one = 0, two = 0, four = 0] = steps;
  expect(one, 'no step was counted').toBeGreaterThan(0);
  expect({ steps, twice: two / one <= MOST_GROWTH, fourTimes: four / two <= MOST_GROWTH }).toEqual({
    steps,
    twice: true,
    fourTimes: true,
  });
  return steps;
}

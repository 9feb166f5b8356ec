import { Session } from 'node:inspector/promises';
import path from 'node:path';
import { expect } from 'vitest';

/** From 2n to 4n are twice the steps from n to 2n; sorting takes a few more. */
const MOST_GROWTH = 2.2;
/** V8 now and then adds what ran before: the fewest steps that were ever counted are right. */
const MAX_ATTEMPTS = 10;
const SOURCES = `${path.resolve(import.meta.dirname, '../../src')}/`;

// From here on: V8 counts the blocks of functions that it compiles from now on, at their first call.
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });

/**
 * How often the blocks of src/ are run by some work: V8 counts them. The number is the same on every machine and under any
 * load, which time is not.
 */
export async function countSteps(work: () => void | Promise<void>): Promise<number> {
  await session.post('Profiler.takePreciseCoverage');
  await work();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  return result
    .filter(({ url }) => url.replace(/^file:\/\//, '').startsWith(SOURCES))
    .flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges))
    .reduce((sum, { count }) => sum + count, 0);
}

/**
 * Prepares inputs of n, 2n and 4n, does the work for each, and expects that its steps grow as the input does. Returns the
 * steps of each.
 */
export async function expectLinear<T>(
  prepare: (n: number) => T | Promise<T>,
  work: (input: T) => void | Promise<void>,
  { n = 64, times = 3 }: { readonly n?: number; readonly times?: number } = {},
): Promise<readonly number[]> {
  // What is built once, at the first call, does not count.
  await work(await prepare(n));
  const steps = [n, 2 * n, 4 * n].map(() => Number.POSITIVE_INFINITY);
  let growth = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < MAX_ATTEMPTS && !(growth <= MOST_GROWTH); attempt++) {
    for (const [at, size] of [n, 2 * n, 4 * n].entries())
      for (let time = 0; time < times; time++) {
        const input = await prepare(size);
        steps[at] = Math.min(steps[at] as number, await countSteps(() => work(input)));
      }
    const [one = 0, two = 0, four = 0] = steps;
    growth = Math.round((100 * (four - two)) / Math.max(two - one, n)) / 100;
  }
  expect(steps[0], 'no step was counted').toBeGreaterThan(0);
  expect(growth, `steps: ${steps.join(', ')}`).toBeLessThanOrEqual(MOST_GROWTH);
  return steps;
}

import { describe, expect, it } from 'vitest';
import { simulateFleet } from '../../../bench/scale-fleet.mjs';
import { fairShares, logNormal, randomFrom, simulateQueue, submitTimes, zipf } from '../../../bench/scale-model.mjs';

describe('a queue of sessions', () => {
  /** A session that works on one processor for a second, and waits for a second. */
  const half = {
    slices: [
      { ms: 1000, used: 1 },
      { ms: 1000, used: 0 },
    ],
    endsAtMs: 2000,
  };
  const work = { slices: [{ ms: 1000, used: 1 }], endsAtMs: 1000 };

  it('one after the other takes the sum', () => {
    const { ms, each } = simulateQueue([half], { tasks: 5, jobs: 1, processors: 2 });
    expect(ms).toBeCloseTo(10_000);
    expect(each).toHaveLength(5);
  });

  it('two that fit on the processors do not slow each other', () => {
    expect(simulateQueue([work], { tasks: 4, jobs: 2, processors: 2 }).ms).toBeCloseTo(2000);
  });

  it('two on one processor take twice as long, and waits are not stretched', () => {
    expect(simulateQueue([work], { tasks: 2, jobs: 2, processors: 1 }).ms).toBeCloseTo(2000);
    expect(simulateQueue([half], { tasks: 2, jobs: 2, processors: 1 }).ms).toBeCloseTo(3000);
  });

  it('what the engine does after a session slows the next one', () => {
    const tail = { slices: [{ ms: 2000, used: 1 }], endsAtMs: 1000 };
    const { ms, each } = simulateQueue([tail], { tasks: 2, jobs: 1, processors: 1 });
    expect(each[0]).toBeCloseTo(1000);
    // Half of a processor for the second one until the first has cleaned up.
    expect(each[1]).toBeCloseTo(2000);
    expect(ms).toBeCloseTo(3000);
  });

  it('the work that is done equals the work that was asked for', () => {
    const busy = { slices: [{ ms: 500, used: 1.8 }], endsAtMs: 500 };
    expect(simulateQueue([busy], { tasks: 10, jobs: 2, processors: 2 }).ms).toBeCloseTo((10 * 500 * 1.8) / 2);
  });
});

it('shares of processors are fair and never above the demand', () => {
  expect(fairShares([0.2, 2, 2], 2)).toEqual([0.2, 0.9, 0.9]);
  expect(fairShares([1, 0, 0.5], 2)).toEqual([1, 0, 0.5]);
});

describe('random numbers', () => {
  it('are the same in every run, and spread evenly', () => {
    const [one, other] = [randomFrom(7), randomFrom(7)];
    const values = Array.from({ length: 10_000 }, one);
    expect(values.slice(0, 50)).toEqual(Array.from({ length: 50 }, other));
    expect(values.reduce((sum, value) => sum + value, 0) / values.length).toBeCloseTo(0.5, 1);
  });

  it('logNormal has the median', () => {
    const random = randomFrom(1);
    const values = Array.from({ length: 10_001 }, () => logNormal(random, { median: 300, spread: 1 }));
    const middle = values.sort((a, b) => a - b)[5000] ?? 0;
    expect(Math.abs(middle - 300)).toBeLessThan(15);
  });

  it('zipf takes the first twice as often as the second', () => {
    const [random, pick] = [randomFrom(3), zipf(100)];
    const picks = Array.from({ length: 50_000 }, () => pick(random));
    const [first, second] = [0, 1].map((wanted) => picks.filter((one) => one === wanted).length);
    expect((first ?? 0) / (second ?? 1)).toBeGreaterThan(1.85);
    expect((first ?? 0) / (second ?? 1)).toBeLessThan(2.15);
    expect(Math.max(...picks)).toBeLessThan(100);
  });

  it('sessions are submitted in the hours of the shape, in order', () => {
    const shape = Array.from({ length: 24 }, (_, hour) => (hour === 9 ? 1 : 0));
    const times = submitTimes(randomFrom(5), { sessions: 200, days: 2, shape });
    expect(times).toHaveLength(400);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(new Set(times.map((at) => Math.floor(at / 3600)))).toEqual(new Set([9, 33]));
  });
});

describe('a fleet', () => {
  const fleet = {
    sessions: 1000,
    nodes: 10,
    days: 2,
    shape: new Array<number>(24).fill(1),
    lengthS: { median: 600, spread: 0 },
    copies: 5,
    projectBytes: { median: 1000, spread: 0 },
    slots: 100,
    editsADay: 0.1,
    fixedBytes: 10,
    bytesPerByte: 2,
    placement: 'fewest',
  } as const;

  it('reports the last day, with every session of it', () => {
    const day = simulateFleet(fleet);
    expect(day.sessions).toBe(1000);
    expect(day.fixedBytes).toBe(10_000);
    expect(day.meanLengthS).toBeCloseTo(600);
    // 1,000 sessions of 600 s a day are 6.9 at a time.
    expect(day.peakRunning).toBeGreaterThan(7);
    expect(day.peakRunning).toBeLessThan(30);
  });

  it('sends each base once to each node, and then what changed', () => {
    const first = simulateFleet({ ...fleet, days: 1 });
    expect(first.whole).toBeLessThanOrEqual(5 * 10);
    expect(first.whole).toBeGreaterThan(30);
    expect(first.baseBytes).toBeCloseTo(first.whole * 2000);
    expect(first.nodeBytes).toBeLessThanOrEqual(5000);
    const second = simulateFleet(fleet);
    expect(second.baseBytes).toBeLessThan(first.baseBytes / 4);
    // A tenth of each copy on each node, twice its bytes on the wire, in the whole day.
    expect(second.differenceBytes).toBeLessThan(5 * 10 * 1000 * 0.1 * 2 * 1.5);
    expect(second.differenceBytes).toBeGreaterThan(5 * 10 * 1000 * 0.1 * 2 * 0.5);
  });

  it('sends fewer bases where a session goes to a node that has its base', () => {
    const warm = simulateFleet({ ...fleet, days: 1, placement: 'warm' });
    expect(warm.whole).toBe(5);
  });

  it('has the rest wait where all nodes are full, first come, first served', () => {
    const day = simulateFleet({ ...fleet, slots: 1, nodes: 5 });
    expect(day.peakRunning).toBe(5);
    expect(day.peakOnNode).toBe(1);
    expect(day.peakWaiting).toBeGreaterThan(100);
    expect(day.waitS).toBeGreaterThan(600);
  });
});

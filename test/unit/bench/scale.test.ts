import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  byWeight,
  drawDay,
  drawLimits,
  GIVEN,
  logNormal,
  randomFrom,
  sharesOf,
  simulateDays,
  slotsOf,
  submitTimes,
} from '../../../bench/scale.mjs';

const page = readFileSync(path.resolve(import.meta.dirname, '../../../docs/internals/scale.md'), 'utf8');

describe('docs/internals/scale.md', () => {
  it('has the day that the model gives (node bench/scale.mjs)', () => {
    expect(page).toContain(drawDay(10_000));
  });

  it('has the first limits that the model gives', () => {
    const rows = drawLimits([10_000, 20_000]).split('\n').slice(2);
    // The page has further columns.
    for (const row of rows) expect(page).toContain(row.replace(/\|$/, '| '));
    expect(rows).toHaveLength(13);
  });
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
    expect(Math.abs((values.sort((a, b) => a - b)[5000] ?? 0) - 300)).toBeLessThan(15);
  });

  it('byWeight takes each index as often as its weight says, and never one of weight 0', () => {
    const [random, pick] = [randomFrom(3), byWeight([2, 0, 1])];
    const picks = Array.from({ length: 30_000 }, () => pick(random));
    expect(picks.filter((one) => one === 0).length / 30_000).toBeCloseTo(2 / 3, 1);
    expect(new Set(picks)).toEqual(new Set([0, 2]));
  });

  it('sessions are submitted in the hours of the shape, in order', () => {
    const shape = Array.from({ length: 24 }, (_, hour) => (hour === 9 ? 1 : 0));
    const times = submitTimes(randomFrom(5), { sessions: 200, days: 2, shape });
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(new Set(times.map((at) => Math.floor(at / 3600)))).toEqual(new Set([9, 33]));
  });
});

describe('days of sessions', () => {
  const SMALL = {
    ...GIVEN,
    nodes: 10,
    users: 5,
    projects: 1,
    projectMb: { median: 1, spread: 0 },
    lengthS: { median: 600, spread: 0 },
    shape: new Array<number>(24).fill(1),
    days: 1,
  };

  it('run as many sessions at once as their length gives', () => {
    // 1,000 sessions of 600 s a day are 6.9 at a time.
    const { peakRunning } = simulateDays(1000, 'fewest', { ...SMALL, days: 2 });
    expect(peakRunning).toBeGreaterThan(7);
    expect(peakRunning).toBeLessThan(30);
  });

  it('send each base once to each node, and then what changed', () => {
    const first = simulateDays(1000, 'fewest', SMALL);
    expect(first.whole).toBeLessThanOrEqual(5 * 10);
    expect(first.whole).toBeGreaterThan(30);
    expect(first.nodeBytes).toBeLessThanOrEqual(5 * 2 ** 20);
    expect(simulateDays(1000, 'fewest', { ...SMALL, days: 2 }).baseBytes).toBeLessThan(first.baseBytes / 4);
  });

  it('send fewer bases to nodes that have them already', () => {
    expect(simulateDays(1000, 'warm', SMALL).whole).toBeLessThan(simulateDays(1000, 'fewest', SMALL).whole / 2);
  });

  it('let sessions wait where every node is full, and no node takes more than it has memory for', () => {
    const full = { ...SMALL, nodes: 1, lengthS: { median: 7200, spread: 0 } };
    const day = simulateDays(1000, 'fewest', full);
    expect(day.peakOnNode).toBe(slotsOf(full));
    expect(day.peakWaiting).toBeGreaterThan(100);
  });

  it('need more of every limit where there are more sessions', () => {
    const [few, many] = [500, 20_000].map((sessions) => sharesOf(sessions, simulateDays(sessions, 'fewest')));
    for (const [what, share] of many ?? []) expect([what, share > (few?.get(what) ?? 0)]).toEqual([what, true]);
  });

  it('a user needs a share of what one machine needs that submits all', () => {
    const shares = sharesOf(1000, simulateDays(1000, 'fewest'));
    for (const what of ['a start reads its records in 1 s', 'memory of its commands']) {
      const eachUser = shares.get(`each user's machine: ${what}`) ?? 0;
      expect(shares.get(`one machine submits all: ${what}`)).toBeCloseTo(eachUser * GIVEN.users);
    }
  });
});

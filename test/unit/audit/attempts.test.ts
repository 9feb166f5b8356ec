import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isLoud, readLines } from './plant.ts';
import type { Planted } from './rows.ts';

// One attempt a line: a name, and what is planted there (rows.ts). Each is made alone, as if it were all of a session.
const folder = new URL('./attempts/', import.meta.url);
const attempts = (file: string) => readLines<readonly [string, Planted]>(new URL(file, folder));
const spoken = ([path, planted]: readonly [string, Planted]): boolean => isLoud({ [path]: planted });

describe('attempts of an attacker who has read the rules', () => {
  const families = readdirSync(folder).filter((file) => file.endsWith('.jsonl') && file !== 'quiet.jsonl');

  it.each(families)('is never silent: %s', (file) => {
    const all = attempts(file);
    expect(all.length).toBeGreaterThanOrEqual(30);
    expect(all.filter((one) => !spoken(one)).map(([path]) => path)).toEqual([]);
  });

  it('is silent about a similar harmless file for each', () => {
    expect(
      attempts('quiet.jsonl')
        .filter(spoken)
        .map(([path]) => path),
    ).toEqual([]);
  });
});

import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { auditFiles } from './plant.ts';
import type { Planted } from './rows.ts';

// One attempt a line: a name, and what is planted there (rows.ts). Each is made alone, as if the session did nothing else.
const folder = new URL('./attempts/', import.meta.url);
const attempts = (file: string): (readonly [string, Planted])[] =>
  readFileSync(new URL(file, folder), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as [string, Planted]);
const spoken = ([path, planted]: readonly [string, Planted]): boolean =>
  auditFiles({ [path]: planted }).some(({ severity }) => severity !== 'note');

describe('what somebody would try who has read the rules', () => {
  const families = readdirSync(folder).filter((file) => file.endsWith('.jsonl') && file !== 'quiet.jsonl');

  it.each(families)('is never silent: %s', (file) => {
    const all = attempts(file);
    expect(all.length).toBeGreaterThanOrEqual(30);
    expect(all.filter((one) => !spoken(one)).map(([path]) => path)).toEqual([]);
  });

  it('and the harmless beside it is', () => {
    expect(
      attempts('quiet.jsonl')
        .filter(spoken)
        .map(([path]) => path),
    ).toEqual([]);
  });
});

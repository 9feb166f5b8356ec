import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { judgeTries, shareOfSilent } from './tries.ts';

// The author of these attempts had not read the rules or any other list of this folder.

/** The largest share of the attempts that text alone may miss. */
const MAX_SILENT = 0.07;
/** The largest share of the harmless changes that may be reported. */
const MAX_LOUD = 0.02;

const folder = new URL('./second-tries/', import.meta.url);
const HARMLESS = 'harmless.jsonl';
const isWriting = process.env['WRITE_SECOND_TRIES'] === '1';
const judge = (file: string) => judgeTries(new URL(file, folder), isWriting);

// After a change of the rules: WRITE_SECOND_TRIES=1 npx vitest run --project unit test/unit/audit/second-tries.test.ts
it('gives each attempt its recorded verdict', () => {
  const attempts = readdirSync(folder)
    .sort()
    .filter((file) => file !== HARMLESS)
    .flatMap(judge);
  expect(attempts.length).toBeGreaterThanOrEqual(300);
  expect(shareOfSilent(attempts)).toBeLessThanOrEqual(MAX_SILENT);
});

it('gives each harmless change its recorded verdict', () => {
  const harmless = judge(HARMLESS);
  expect(harmless.length).toBeGreaterThanOrEqual(60);
  expect(1 - shareOfSilent(harmless)).toBeLessThanOrEqual(MAX_LOUD);
});

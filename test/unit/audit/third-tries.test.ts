import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { judgeTries, shareOfSilent } from './tries.ts';

// Tools that no row of the other lists mentions. The author had read how names are followed, so the first rate is of tools
// that the rules did not know, and the rate now says nothing of a stranger's attempts: second-tries.test.ts does.

/** The share of the attempts that nothing reported at first: 62 of 94. */
const FIRST_SILENT = 62 / 94;
/** The largest share of the attempts that text alone may miss. */
const MAX_SILENT = 0.1;

const folder = new URL('./third-tries/', import.meta.url);
const HARMLESS = 'harmless.jsonl';
const isWriting = process.env['WRITE_THIRD_TRIES'] === '1';
const judge = (file: string) => judgeTries(new URL(file, folder), isWriting);

// After a change of the rules: WRITE_THIRD_TRIES=1 npx vitest run --project unit test/unit/audit/third-tries.test.ts
it('gives each attempt its recorded verdict', () => {
  const attempts = readdirSync(folder)
    .sort()
    .filter((file) => file !== HARMLESS)
    .flatMap(judge);
  expect(attempts.filter(({ first }) => first === 'silent').length / attempts.length).toBe(FIRST_SILENT);
  expect(shareOfSilent(attempts)).toBeLessThanOrEqual(MAX_SILENT);
});

it('reports no harmless change of a file that settings name', () => {
  const harmless = judge(HARMLESS);
  expect(harmless.length).toBeGreaterThanOrEqual(20);
  expect(shareOfSilent(harmless)).toBe(1);
});

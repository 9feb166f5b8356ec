import { expect, test } from 'vitest';
import { maskedText, secretValues } from '../../../../src/core/secrets/values.ts';

/**
 * What a project has in a file of a secret kind is read at each start. None of these texts may take longer for each
 * character than a short one: where the search is quadratic, this file ends by its time limit. Nothing else is timed.
 */

test('a file of any size is masked by its names', () => {
  const text = `${'# a line that says nothing\n'.repeat(120_000)}DB_PASSWORD=hunter22\n`;
  const masked = maskedText('.env', text, () => 'DECOY');
  expect(masked.length).toBe(text.length - 'hunter22'.length + 'DECOY'.length);
  expect(masked.endsWith('DB_PASSWORD=DECOY\n')).toBe(true);
});

test.each([
  ['one word', '.env', 'a'.repeat(1_600_000)],
  ['one word of capital letters', '.env', 'A'.repeat(1_600_000)],
  ['blanks', '.env', `A${' '.repeat(1_600_000)}`],
  ['dashes', '.env', '- '.repeat(800_000)],
  ['commas behind a value', '.env', `A=b${', '.repeat(800_000)}c`],
  ['quotes that nothing closes', '.env', 'A="\n'.repeat(400_000)],
  ['addresses without an end', '.env', 'http://a:'.repeat(180_000)],
  ['colons', '.pgpass', 'a:'.repeat(800_000)],
  ['blank lines in a file of passwords', '.htpasswd', '\n'.repeat(1_600_000)],
  ['beginnings of character data', 'settings.xml', `<a>${'<b><![CDATA['.repeat(130_000)}`],
])('%s', (_, path, text) => {
  expect(secretValues(path, `${text}\nDB_PASSWORD=hunter22\n`)).toBeDefined();
});

test('JSON that is nested more deeply than a parser goes is read as lines', () => {
  const text = `${'{"a":'.repeat(300_000)}\n{"password":"hunter22"}`;
  expect(secretValues('credentials.json', text).map(({ value }) => value)).toContain('hunter22');
});

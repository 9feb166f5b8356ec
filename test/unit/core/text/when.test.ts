import { expect, it } from 'vitest';
import { durationText, whenText } from '../../../../src/core/text/when.ts';

const NOW = new Date(2026, 10, 21, 14, 30, 0);
const at = (...parts: [number, number, number, number, number]): string => new Date(...parts).toISOString();

it.each([
  [new Date(NOW.getTime() - 20_000).toISOString(), 'just now'],
  [new Date(NOW.getTime() + 20_000).toISOString(), 'just now'],
  [at(2026, 10, 21, 14, 27), '3 min ago'],
  [at(2026, 10, 21, 13, 31), '59 min ago'],
  [at(2026, 10, 21, 9, 5), 'today 09:05'],
  [at(2026, 10, 21, 18, 0), 'today 18:00'],
  [at(2026, 10, 20, 23, 59), 'yesterday 23:59'],
  [at(2026, 10, 19, 14, 3), '19 Nov 14:03'],
  [at(2026, 0, 1, 0, 0), '1 Jan 00:00'],
  [at(2025, 10, 21, 14, 3), '21 Nov 2025'],
  ['not a time', 'at an unknown time'],
])('prints %s in local time as %s', (iso, text) => {
  expect(whenText(iso, NOW.getTime())).toBe(text);
});

it('knows yesterday across the end of a month', () => {
  expect(whenText(at(2026, 1, 28, 8, 0), new Date(2026, 2, 1, 9, 30).getTime())).toBe('yesterday 08:00');
});

it.each([
  [400, 'under 1 s'],
  [45_300, '45 s'],
  [59_700, '1 min'],
  [80_000, '1 min 20 s'],
  [725_000, '12 min'],
  [3_600_000, '1 h'],
  [7_500_000, '2 h 5 min'],
])('prints a duration of %d ms as %s', (ms, text) => {
  expect(durationText(ms)).toBe(text);
});

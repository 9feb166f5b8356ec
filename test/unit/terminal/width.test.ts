import { describe, expect, it } from 'vitest';
import { cutEnd, cutStart, expandTabs, widthOf, wrap } from '../../../src/terminal/columns/width.ts';

it.each([
  ['', 0],
  ['plain ~', 7],
  ['naïve', 5],
  ['e\u0301', 1],
  ['漢字', 4],
  ['가', 2],
  ['ｱ', 1],
  ['Ａ', 2],
  ['—…①', 3],
  ['☃', 1],
  ['⌚', 2],
  ['✨', 2],
  ['👍', 2],
  ['𠀀', 2],
])('%j takes %i columns', (text, columns) => {
  expect(widthOf(text)).toBe(columns);
});

it('measures a name of 200,000 combining marks at once', () => {
  const startedMs = performance.now();
  expect(widthOf(`e${'\u0301'.repeat(200_000)}`)).toBe(1);
  expect(performance.now() - startedMs).toBeLessThan(10_000);
});

it('expands tabs to stops of eight columns, of wide characters too', () => {
  expect(expandTabs('a\tb')).toBe('a       b');
  expect(expandTabs('漢\tb')).toBe('漢      b');
});

describe('a text that is too long', () => {
  const text = 'src/漢字/file.txt';

  it.each([1, 2, 3, 7, 12, 100])('is complete in pieces of %i columns', (columns) => {
    const pieces = wrap(text, columns);
    expect(pieces.join('')).toBe(text);
    // A character is never cut in two.
    for (const piece of pieces) expect(widthOf(piece)).toBeLessThanOrEqual(Math.max(2, columns));
  });

  it('is cut with a mark, at the end or at the beginning', () => {
    expect(cutEnd(text, 8)).toBe('src/漢…');
    expect(cutStart(text, 8)).toBe('…ile.txt');
    expect(cutEnd(text, 100)).toBe(text);
    expect(cutStart(text, 100)).toBe(text);
  });
});

import { expect, it } from 'vitest';
import { listPages, readPage } from '../../support/markdown.ts';

/** Two screens of a large terminal, of 60 rows each. */
const MAX_LINES = 120;

it('a how-to page fits two screens', () => {
  const pages = listPages().filter((name) => name.startsWith('docs/how-to/'));
  expect(pages.length).toBeGreaterThan(40);
  const long = pages.filter((name) => readPage(name).trimEnd().split('\n').length > MAX_LINES);
  // Move what is reference to docs/reference, and a second task to its own page.
  expect(long).toEqual([]);
});

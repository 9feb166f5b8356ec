import { expect, it } from 'vitest';
import { readPage } from '../../support/markdown.ts';

const COMMAND = /`[^`\n]*(?:npm run bench|node (?:bench\/|--cpu-prof)|run-claude |pidstat )[^`]*`/;

/** Sections that have a figure: a table with digits, or a time in their text. */
function sectionsWithFigures(page: string): { readonly title: string; readonly text: string }[] {
  return page
    .split(/^#{2,3} /m)
    .slice(1)
    .map((section) => ({ title: section.split('\n', 1)[0] ?? '', text: section }))
    .filter(({ text }) => /\d (?:ms|s|MB)\b/.test(text));
}

it('every section of docs/reference/performance.md with figures has the command that prints them', () => {
  const sections = sectionsWithFigures(readPage('docs/reference/performance.md'));
  expect(sections.length).toBeGreaterThan(10);
  expect(sections.filter(({ text }) => !COMMAND.test(text)).map(({ title }) => title)).toEqual([]);
});

it('a section without a command is found', () => {
  const sections = sectionsWithFigures('# A\n\n## Copies\n\nIt takes 20 ms.\n\n## Terms\n\nA start is a start.\n');
  expect(sections.filter(({ text }) => !COMMAND.test(text)).map(({ title }) => title)).toEqual(['Copies']);
});

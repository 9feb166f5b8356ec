import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { anchorsOf, proseOf, readPage } from '../../support/markdown.ts';
import { QUESTIONS, type Question } from './questions.ts';

const INDEX = 'docs/README.md';

interface Link {
  readonly text: string;
  readonly page: string;
  readonly anchor: string | undefined;
}

/** The links of a page to pages, with what a reader sees: the link's text, and the row of a table that it is in. */
function linksTo(page: string): Link[] {
  return proseOf(readPage(page))
    .split('\n')
    .flatMap((line) =>
      [...line.matchAll(/\[([^\]]*)\]\(([^)\s]+\.md)?(?:#([\w-]+))?\)/g)].map(([, text = '', target, anchor]) => ({
        text: line.startsWith('| ') ? line.replaceAll(/\]\([^)]*\)/g, '') : text,
        page: target === undefined ? page : path.posix.join(path.posix.dirname(page), target),
        anchor,
      })),
    );
}

const COMMON = new Set(
  'does what where when have that with from this into will your mine after instead other'.split(' '),
);

/** The words of a text that say what it is about, without their endings. */
const wordsOf = (text: string): string[] =>
  [...text.toLowerCase().matchAll(/[a-z]+/g)]
    .map(([word]) => word)
    .filter((word) => word.length > 3 || ['env', 'mac', 'ssh', 'mcp', 'ci', 'gcc', 'rid'].includes(word))
    .filter((word) => !COMMON.has(word))
    .map((word) => word.slice(0, 5));

function headingOf(page: string, anchor: string | undefined): string {
  const headings = [...readPage(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading);
  if (anchor === undefined) return headings[0] ?? '';
  return headings.find((heading) => anchorsOf(`# ${heading}\n`).has(anchor)) ?? '';
}

/** The ways from the index to the answer, as the links that a reader follows: one, or two. */
function waysTo(page: string): Link[][] {
  const first = linksTo(INDEX);
  const direct = first.filter((link) => link.page === page).map((link) => [link]);
  if (direct.length > 0) return direct;
  return first.flatMap((link) =>
    link.page.startsWith('docs/')
      ? linksTo(link.page)
          .filter((next) => next.page === page)
          .map((next) => [link, next])
      : [],
  );
}

describe('a question of a user who has not read the documentation', () => {
  it('is one of thirty', () => {
    expect(QUESTIONS.length).toBeGreaterThanOrEqual(30);
  });

  it.each(QUESTIONS)('$question', ({ question, answer }: Question) => {
    const [page = '', anchor] = answer.split('#');
    if (anchor !== undefined) expect(anchorsOf(readPage(page)), `${page} has no #${anchor}`).toContain(anchor);
    const ways = waysTo(page);
    expect(ways.length, `no way of two links from ${INDEX} to ${page}`).toBeGreaterThan(0);
    const asked = wordsOf(question);
    const seen = ways.map((way) => wordsOf([...way.map(({ text }) => text), headingOf(page, anchor)].join(' ')));
    const best = Math.max(...seen.map((words) => asked.filter((word) => words.includes(word)).length));
    expect(best, `of ${asked.join(' ')}, no word is in a link or heading: ${seen.join(' / ')}`).toBeGreaterThan(0);
  });
});

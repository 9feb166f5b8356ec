import { expect, it } from 'vitest';
import { parseCommandLine } from '../../../src/cli/grammar/parse-command-line.ts';
import { codeBlocks, listPages, readPage } from '../../support/markdown.ts';

/** The words of one command as a shell has them, up to a comment, a redirection or the next command; no expansions. */
function wordsOf(line: string): string[] {
  const words: string[] = [];
  for (const [, quoted, double, plain] of line.matchAll(/'([^']*)'|"([^"]*)"|((?:\\.|[^\s'"])+)/g)) {
    if (plain !== undefined && /^(#|<|>|\||&|;)/.test(plain)) break;
    words.push(quoted ?? double ?? plain ?? '');
  }
  return words;
}

const commands = listPages().flatMap((page) =>
  codeBlocks(readPage(page))
    .filter(({ language }) => ['sh', ''].includes(language))
    .flatMap(({ text }) => text.split('\n'))
    // What a quotation carries to the next line is run by test/e2e/docs/docs.test.ts.
    .filter((line) => line.startsWith('run-claude ') && line.split("'").length % 2 === 1)
    .map((line) => [page, line] as const),
);

it('every run-claude command in the documents is valid, even where no test runs it', () => {
  expect(commands.length).toBeGreaterThan(100);
  const wrong = commands.flatMap(([page, line]) => {
    try {
      parseCommandLine(wordsOf(line.replaceAll('...', '')).slice(1), (word) => /^([~./]|project$)/.test(word));
      return [];
    } catch (error) {
      return [`${page}: ${line}: ${(error as Error).message}`];
    }
  });
  expect(wrong).toEqual([]);
});

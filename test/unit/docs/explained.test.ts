import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { COMMANDS, COMMON_OPTIONS } from '../../../src/cli/grammar/commands.ts';
import { RUN_OPTIONS } from '../../../src/cli/grammar/options.ts';
import { SETTINGS } from '../../../src/core/config/settings.ts';
import { listPages, readPage } from '../../support/markdown.ts';

// What a user meets on the screen is explained where a user reads: in a page that is written by hand. Generated lists and
// the changelog do not count.

/** Drawn from the tables of the code: they have everything by themselves. */
const LISTS = ['docs/reference/command-line.md', 'docs/reference/error-codes.md', 'docs/audit-rules.md'];
/** Its tables are drawn, its text is not. */
const SETTINGS_PAGE = 'docs/reference/settings.md';

const pages = listPages()
  .filter((name) => /^(docs\/(?!internals\/)|README\.md)/.test(name) && !LISTS.includes(name))
  .map((name) => (name === SETTINGS_PAGE ? readPage(name).replaceAll(/^\|.*$/gm, '') : readPage(name)));

const isWord = (text: string, word: string): boolean =>
  new RegExp(`(?<![\\w-])${word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?![\\w-])`).test(text);
const isExplained = (...words: readonly string[]): boolean =>
  pages.some((page) => words.every((word) => isWord(page, word)));
/** `run-claude up`, or `up [PROJECT]` in a table of commands. */
const isCommandExplained = (name: string): boolean =>
  isExplained(`run-claude ${name}`) || pages.some((page) => new RegExp(`\`${name} [A-Z[|-]`).test(page));

it('every option of a session is in a page', () => {
  const missing = RUN_OPTIONS.filter(({ name }) => !isExplained(`--${name}`)).map(({ name }) => `--${name}`);
  expect(missing).toEqual([]);
});

it('every command is in a page, and each of its options in a page that names the command', () => {
  const common = new Set(COMMON_OPTIONS.map(({ name }) => name));
  const missing = COMMANDS.flatMap(({ name, options }) => [
    ...(isCommandExplained(name) ? [] : [name]),
    ...options
      .filter((option) => !common.has(option.name) && !isExplained(name, `--${option.name}`))
      .map((option) => `${name} --${option.name}`),
  ]);
  expect(missing).toEqual([]);
});

it('every setting is in a page, as its key or its option', () => {
  const missing = SETTINGS.map(({ name }) => name).filter((name) => !isExplained(name) && !isExplained(`--${name}`));
  expect(missing).toEqual([]);
});

const folder = new URL('../../../src/', import.meta.url);
const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => readFileSync(new URL(file, folder), 'utf8'));

/** The text of each hint: behind `hint:`, or a constant that is named so. What is put into it at run time is left out. */
function hintsOf(source: string): string[] {
  const literal = /(['"`])((?:\\.|(?!\1)[\s\S])*)\1/y;
  return [...source.matchAll(/\bhint:\s*(?:[\w.!=? ]+\?\s*)?(?=['"`])|\b\w*(?:HINT|Hint) =\s*(?=['"`])/g)].flatMap(
    (found) => {
      literal.lastIndex = found.index + found[0].length;
      return literal.exec(source)?.[2]?.replaceAll(/\$\{[^}]*\}/g, '') ?? [];
    },
  );
}

const OPTIONS = new Set([...RUN_OPTIONS, ...COMMANDS.flatMap(({ options }) => options)].map(({ name }) => name));
const COMMAND_NAMES = new Set(COMMANDS.map(({ name }) => name));

/** What a hint tells the user to write, of run-claude's own. */
function namedIn(hint: string): string[] {
  const all = (pattern: RegExp): string[] => [...hint.matchAll(pattern)].map(([text, inner = text]) => inner);
  return [
    ...all(/(?<![\w-])--([a-z][a-z-]+)/g).flatMap((name) => (OPTIONS.has(name) ? [`--${name}`] : [])),
    ...all(/run-claude ([a-z]+)/g).flatMap((name) => (COMMAND_NAMES.has(name) ? [`run-claude ${name}`] : [])),
    ...all(/\[{1,2}[a-z]+\]{1,2}/g),
    ...all(/\b[A-Z]{2,}_[A-Z_]+\b/g),
  ];
}

it('what the hint of an error names is in a page: options, commands, tables and variables', () => {
  const hints = sources.flatMap(hintsOf);
  expect(hints.length).toBeGreaterThan(150);
  const named = new Set(hints.flatMap(namedIn));
  expect(named.size).toBeGreaterThan(30);
  expect([...named].filter((word) => !pages.some((page) => page.includes(word)))).toEqual([]);
});

it('finds what a hint names', () => {
  const source = `const x = { hint: 'Add --network none, or run: run-claude gc' };\nconst A_HINT = 'Set [slurm].';`;
  expect(hintsOf(source).flatMap(namedIn)).toEqual(['--network', 'run-claude gc', '[slurm]']);
});

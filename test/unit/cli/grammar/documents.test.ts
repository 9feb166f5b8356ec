import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { COMMANDS } from '../../../../src/cli/grammar/commands.ts';
import { EXIT_STATUSES } from '../../../../src/cli/grammar/exit-statuses.ts';
import { helpText } from '../../../../src/cli/grammar/help.ts';
import { SETTINGS } from '../../../../src/config/settings.ts';
import { EXIT } from '../../../../src/errors.ts';

const page = (name: string): string => readFileSync(new URL(`../../../../docs/${name}`, import.meta.url), 'utf8');
const rowsOf = (text: string): string[][] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
    .filter(([first = '']) => !first.startsWith('---'));

it('says the same of exit statuses in the table, the help and the docs', () => {
  const table = EXIT_STATUSES.map(([statuses, meaning]) => [statuses.join(', '), meaning]);
  expect(rowsOf(page('exit-statuses.md')).slice(1)).toEqual(table);
  const help = helpText(undefined);
  expect(help.slice(help.indexOf('Exit status')).trim().split('\n').slice(1)).toEqual(
    table.map(([statuses = '', meaning]) => `  ${statuses.padEnd(10)}${meaning}`),
  );
  const said = EXIT_STATUSES.flatMap(([statuses]) => statuses);
  expect(new Set(said)).toEqual(new Set(Object.values(EXIT).filter((status) => status !== EXIT.ok)));
});

it('installs in the README only what exists: tarballs and checkouts, no package of a registry and no repository', () => {
  const readme = page('../README.md');
  const installed = [...readme.matchAll(/npm install (?:--\S+ (?:~\S* )?)*(\S+)/g)].map(([, what]) => what);
  expect(installed.length).toBeGreaterThan(1);
  for (const what of installed) expect(what).toMatch(/^\.\/run-claude-X\.Y\.Z\.tgz`?,?$/);
  expect(readme).not.toMatch(/https?:\/\/|git clone|\bnpx\b|git@/);
  // In code only: a sentence begins with the name too.
  const code = [...readme.matchAll(/```\n([^`]+)```|`([^`\n]+)`/g)].map(([, block, span]) => block ?? span ?? '');
  const commands = code.flatMap((text) => [...text.matchAll(/^run-claude ([a-z]+)/gm)].map(([, name]) => name));
  expect(commands.length).toBeGreaterThan(5);
  for (const command of commands) expect(COMMANDS.map(({ name }) => name)).toContain(command);
});

it('documents every setting of the files, and no other', () => {
  const named = rowsOf(page('configuration.md'))
    .slice(1)
    .map(([name = '']) => name.replaceAll('`', ''));
  expect(named).toEqual(SETTINGS.filter((setting) => setting.file !== false).map((setting) => setting.name));
});

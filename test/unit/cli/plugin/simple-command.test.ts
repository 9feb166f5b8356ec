import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { simpleWords } from '../../../../src/cli/plugin/simple-command.ts';

it.each([
  ['git status', ['git', 'status']],
  ['git', ['git']],
  [`git log --format='%H %s' -5`, undefined],
  [`git commit -m 'a b; c | d $(e) &'`, ['git', 'commit', '-m', 'a b; c | d $(e) &']],
  ['gh pr view "12 34"', ['gh', 'pr', 'view', '12 34']],
  ['cargo build --features=a,b +nightly', ['cargo', 'build', '--features=a,b', '+nightly']],
])('%j has the words %j', (command, words) => {
  expect(simpleWords(command)).toEqual(words);
});

it.each([
  '',
  ' git status',
  'git status ',
  'git  status',
  'git status; id',
  'git status;id',
  'git status & id',
  'git status && id',
  'git status | sh',
  'git status || id',
  'git status\nid',
  'git status\rid',
  'git status\tid',
  'git status $(id)',
  'git status "$(id)"',
  'git status `id`',
  'git status "`id`"',
  'git status $HOME',
  'git status "$HOME"',
  `git status \${x}`,
  'git status > out',
  'git status >out',
  'git status 2>&1',
  'git status < in',
  'git status <(id)',
  'git status <<< x',
  "git show $'\\n'",
  'git show "a\\"; id; \\""',
  'git show "a!b"',
  `git show 'a'"b"`,
  `git show 'a'; id '`,
  `git show 'a`,
  'git show "a',
  `git show "a\nb"`,
  `git show 'a\nb'`,
  `git show 'a\u0000b'`,
  'git status # x',
  'git {status,log}',
  'git show *',
  'git show a?',
  'git show [ab]',
  'git show ~/x',
  'git show ~root',
  'git show =ls',
  'git show a\\ b',
  'A=b git status',
  'PATH=. git status',
  './git status',
  '/tmp/git status',
  '"git" status',
  "'git' status",
  'git status (id)',
  '(git status)',
  '{ git status; }',
  '! git status',
  '-x',
  '[ -f x ]',
  'git\u00a0status',
  'git show x^y',
  'gi\u0074\u200b status',
])('%j is not one simple command', (command) => {
  expect(simpleWords(command)).toBeUndefined();
});

it('a command that is accepted is read by bash with the same words', () => {
  const accepted: { command: string; words: readonly string[] }[] = [];
  const piece = fc.constantFrom(
    'git',
    'a',
    '-x',
    '--b=c',
    "'",
    '"',
    ' ',
    ';',
    '$',
    '`',
    '\\',
    '\n',
    '|',
    '=',
    '~',
    '*',
    '(',
    'é',
    '!',
    '#',
  );
  fc.assert(
    fc.property(fc.array(piece, { minLength: 1, maxLength: 9 }), (pieces) => {
      const command = `git ${pieces.join('')}`;
      const words = simpleWords(command);
      if (words !== undefined) accepted.push({ command, words });
    }),
    { numRuns: 3000 },
  );
  expect(accepted.length).toBeGreaterThan(50);
  const script = `git() { printf '%s\\0' git "$@"; printf '\\1\\0'; }\n${accepted.map(({ command }) => command).join('\n')}\n`;
  const read = execFileSync('bash', ['-c', script], { encoding: 'utf8' }).split('\u0001\0');
  expect(read.slice(0, -1).map((text) => text.split('\0').slice(0, -1))).toEqual(accepted.map(({ words }) => words));
});

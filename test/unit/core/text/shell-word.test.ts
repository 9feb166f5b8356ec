import { expect, it } from 'vitest';
import { execFileSync } from '../../../../src/core/host/programs/start-program.ts';
import { shellWord } from '../../../../src/core/text/shell-word.ts';

it.each([
  ['src/a-b_c.ts', 'src/a-b_c.ts'],
  ['--name=v', '--name=v'],
  ['', "''"],
  ['a b', "'a b'"],
  ["it's $HOME", "'it'\\''s $HOME'"],
  ['=ls', "'=ls'"],
  ['~', "'~'"],
])('%j is %s, and a shell reads it as one word', (word, quoted) => {
  expect(shellWord(word)).toBe(quoted);
  expect(execFileSync('sh', ['-c', `printf %s ${shellWord(word)}`], { encoding: 'utf8' })).toBe(word);
});

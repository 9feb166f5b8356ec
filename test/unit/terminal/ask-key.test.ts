import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import type { Screen } from '../../../src/terminal/ask.ts';
import { askKey, type KeyMenu } from '../../../src/terminal/ask-key.ts';

const MENU: KeyMenu<'y' | 'n' | 'l'> = {
  question: 'Apply them',
  keys: ['y', 'n', 'l'],
  help: ['y  apply them'],
  onEnter: 'n',
  shown: { n: 'N' },
  words: ['all'],
};

/** Types one line after each question; the end of input after the last one. */
async function answered(menu: KeyMenu<'y' | 'n' | 'l'>, ...lines: string[]) {
  const stdin = new PassThrough();
  const stderr = new PassThrough();
  let output = '';
  let asked = 0;
  stderr.on('data', (chunk: Buffer) => {
    output += chunk;
    for (; asked < output.split(']:').length - 1; asked += 1) {
      const line = lines[asked];
      if (line === undefined) stdin.end();
      else stdin.write(`${line}\n`);
    }
  });
  const answer = await askKey({ stdin, stderr, env: {}, colour: false, dumb: true } as unknown as Screen, menu);
  return { answer, output };
}

it.each([
  ['y', { key: 'y', word: undefined }],
  [' YES ', { key: 'y', word: undefined }],
  ['no', { key: 'n', word: undefined }],
  ['', { key: 'n', word: undefined }],
  ['l all', { key: 'l', word: 'all' }],
])('%j is an answer', async (line, expected) => {
  const { answer, output } = await answered(MENU, line);
  expect(answer).toEqual(expected);
  expect(output).toContain('[sandbox] Apply them? [y,N,l,?]:');
  expect(output).not.toContain('apply them');
});

it.each(['?', 'x', 'yy', 'y please', 'y all all'])('%j prints the help and asks again', async (line) => {
  const { answer, output } = await answered(MENU, line, 'l');
  expect(answer).toEqual({ key: 'l', word: undefined });
  expect(output.split('[sandbox] Apply them?')).toHaveLength(3);
  expect(output).toContain('[sandbox] y  apply them\n');
});

it('neither end of input nor Enter is an answer in a menu without a default key', async () => {
  const { onEnter: _, ...withoutEnter } = MENU;
  expect((await answered(MENU)).answer).toBeUndefined();
  const { answer, output } = await answered({ ...withoutEnter, separator: '/' }, '');
  expect(answer).toBeUndefined();
  expect(output).toContain('[y/N/l/?]:');
  expect(output).toContain('y  apply them');
});

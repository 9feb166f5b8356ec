import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { ask, askYesNo, type Question } from '../../../src/terminal/ask.ts';
import type { Screen } from '../../../src/terminal/screen.ts';

const MENU: Question<'y' | 'n' | 'l' | 'discard'> = {
  text: 'Apply them?',
  about: ['The lines above are the changes.'],
  answers: { y: 'apply them', n: 'leave them', l: 'list them', discard: 'delete them' },
  onEnter: 'n',
  takes: { l: /^[a-z/]+$/ },
};

/** Types one line after each question; the end of input after the last one. */
async function answered<T>(asks: (screen: Screen) => Promise<T>, ...lines: string[]) {
  const stdin = new PassThrough();
  const stderr = new PassThrough();
  let output = '';
  let asked = 0;
  stderr.on('data', (chunk: Buffer) => {
    output += chunk;
    for (; asked < output.split(/[\]'?]: /).length - 1; asked += 1) {
      const line = lines[asked];
      if (line === undefined) stdin.end();
      else stdin.write(`${line}\n`);
    }
  });
  const answer = await asks({ stdin, stderr, env: {}, colour: false, dumb: true } as unknown as Screen);
  return { answer, output };
}
const menu = (screen: Screen) => ask(screen, MENU);

it.each([
  ['y', { key: 'y', rest: '' }],
  [' YES ', { key: 'y', rest: '' }],
  ['no', { key: 'n', rest: '' }],
  ['', { key: 'n', rest: '' }],
  ['l', { key: 'l', rest: '' }],
  ['L  src/x', { key: 'l', rest: 'src/x' }],
  ['discard', { key: 'discard', rest: '' }],
])('%j is an answer', async (line, expected) => {
  const { answer, output } = await answered(menu, line);
  expect(answer).toEqual(expected);
  expect(output).toBe('[sandbox] Apply them? [y/N/l/?]: ');
});

it.each(['x', 'yy', 'y please', 'l SRC', 'd', 'dis', '? l', '\x1b[2Jy'])(
  '%j is reported and asked again, with the answers and not with what is on the screen',
  async (line) => {
    const { answer, output } = await answered(menu, line, 'l');
    expect(answer).toEqual({ key: 'l', rest: '' });
    expect(output.split('[sandbox] Apply them?')).toHaveLength(3);
    expect(output).toContain(`[sandbox] '${line.replace('\x1b', '\\x1b')}' is not an answer here.\n`);
    expect(output).toContain('[sandbox] y        apply them\n[sandbox] n        leave them (also Enter)\n');
    expect(output).not.toContain('The lines above');
  },
);

it('names Enter and another key that does the same together', async () => {
  const answers = { y: 'start', n: 'end here (also Ctrl-C)' };
  const question: Question<'y' | 'n'> = { text: 'Start?', about: [], answers, onEnter: 'n' };
  const { output } = await answered((screen) => ask(screen, question), '?', 'y');
  expect(output).toContain('[sandbox] n  end here (also Ctrl-C or Enter)\n');
});

it('? explains the screen and each answer, and the question is asked again', async () => {
  const { answer, output } = await answered(menu, '?', 'y');
  expect(answer).toEqual({ key: 'y', rest: '' });
  expect(output).toBe(
    [
      '[sandbox] Apply them? [y/N/l/?]: [sandbox] The lines above are the changes.',
      '[sandbox] y        apply them',
      '[sandbox] n        leave them (also Enter)',
      '[sandbox] l        list them',
      '[sandbox] discard  delete them',
      '[sandbox] Apply them? [y/N/l/?]: ',
    ].join('\n'),
  );
});

it('a long answer is quoted in part', async () => {
  const { output } = await answered(menu, `${'x'.repeat(5000)}`, 'n');
  expect(output).toContain(`'${'x'.repeat(39)}…' is not an answer here.`);
});

it('the end of input is not an answer, also after another word', async () => {
  expect((await answered(menu)).answer).toBeUndefined();
  expect((await answered(menu, 'x')).answer).toBeUndefined();
});

it('a yes-no question has the two answers alone, and only y is a yes', async () => {
  const { text, about } = MENU;
  const yesNo: Question<'y' | 'n'> = { text, about, answers: { y: 'do it', n: 'leave it' }, onEnter: 'n' };
  const said = async (question: Question<'y' | 'n'>, ...lines: string[]) =>
    answered((screen) => askYesNo(screen, question), ...lines);
  expect((await said(yesNo, 'y')).output).toBe('[sandbox] Apply them? [y/N/?]: ');
  for (const lines of [['n'], [''], [], ['maybe'], ['yes please', 'n']])
    expect((await said(yesNo, ...lines)).answer).toBe(false);
  expect((await said({ ...yesNo, onEnter: 'y' }, '')).answer).toBe(true);
  expect((await said({ ...yesNo, onEnter: 'y' })).answer).toBe(false);
  expect((await said({ ...yesNo, onEnter: 'y' }, '')).output).toBe('[sandbox] Apply them? [Y/n/?]: ');
});

it('a word that has to be typed whole is not listed', async () => {
  const question: Question<'delete' | 'n'> = {
    text: "Delete all? Type 'delete'",
    about: ['All of it.'],
    answers: { delete: 'delete all', n: 'keep all' },
    onEnter: 'n',
  };
  const { answer, output } = await answered((screen) => ask(screen, question), 'y', 'delete');
  expect(answer?.key).toBe('delete');
  expect(output).toContain("[sandbox] Delete all? Type 'delete': [sandbox] 'y' is not an answer here.");
});

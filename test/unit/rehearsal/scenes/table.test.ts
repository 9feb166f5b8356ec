import { expect, it } from 'vitest';
import { observerWords, SCENES } from '../../../../src/rehearsal/scenes/table.ts';

it('has each command once, with a tool and a time limit', () => {
  expect(new Set(SCENES.map(({ name }) => name)).size).toBe(SCENES.length);
  expect(SCENES.filter(({ tools, limitMs }) => tools.length === 0 || limitMs <= 0)).toEqual([]);
});

it('has names that a list of the observer can hold', () => {
  expect(SCENES.flatMap(({ files, tools }) => [...files, ...tools]).filter((name) => /[:\s]/.test(name))).toEqual([]);
});

it('gives the observer five words for each command', () => {
  const scene = { name: 'pytest', command: 'pytest -q', files: ['a', 'b'], tools: ['pytest', 'sh'], limitMs: 5 };
  const plain = { name: 'make -n', files: [], tools: ['make'], limitMs: 6 };
  expect(observerWords([scene, plain], 9)).toEqual([
    '9',
    ...['pytest', '5', 'a:b', 'pytest:sh', 'pytest -q'],
    ...['make -n', '6', '', 'make', 'make -n'],
  ]);
});

import { expect, it } from 'vitest';
import { observerWords, SCENES, scenesOf } from '../../../../src/rehearsal/scenes/table.ts';

it('has each command once, with a tool and a time limit', () => {
  expect(new Set(SCENES.map(({ name }) => name)).size).toBe(SCENES.length);
  expect(SCENES.filter(({ tools, limitMs }) => tools.length === 0 || limitMs <= 0)).toEqual([]);
});

it('has names that a list of the observer can hold', () => {
  expect(SCENES.flatMap(({ files, tools }) => [...files, ...tools]).filter((name) => /[:\s]/.test(name))).toEqual([]);
});

it("tries the user's own first, and in place of those with their names", () => {
  const own = { command: 'true', files: [], tools: [], timeoutMs: 7 };
  const scenes = scenesOf({
    scenes: [
      { ...own, name: 'storybook' },
      { ...own, name: 'make' },
    ],
  });
  expect(scenes.slice(0, 2).map(({ name, limitMs }) => [name, limitMs])).toEqual([
    ['storybook', 7],
    ['make', 7],
  ]);
  expect(scenes).toHaveLength(SCENES.length + 1);
  expect(scenesOf({})).toEqual(SCENES);
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

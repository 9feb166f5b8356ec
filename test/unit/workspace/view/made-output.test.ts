import { expect, it } from 'vitest';
import type { ListedEntry } from '../../../../src/core/types/collector.ts';
import type { IgnoreRules } from '../../../../src/workspace/collector/ignored.ts';
import { withMadeOutput } from '../../../../src/workspace/view/made-output.ts';

const BASE = ['src', 'src/a.ts', 'package.json', 'packages', 'packages/a'];
const MADE = [
  'src',
  'src/gen.ts',
  'node_modules',
  'node_modules/x',
  'packages',
  'packages/a',
  'packages/a/node_modules',
];

const rules: IgnoreRules = {
  top: async (path) => (path.startsWith('ignored') ? 'ignored' : undefined),
  whole: async (dir) => dir === 'ignored',
};
const collector = {
  stat: async (root: string, path: string): Promise<ListedEntry | undefined> =>
    (root === 'base' ? BASE : MADE).includes(path) ? ({ path } as ListedEntry) : undefined,
};

it('counts what the setup made as ignored output, and nothing that the project has', async () => {
  const made = withMadeOutput(rules, collector);
  expect(await made.top('node_modules/x/new.js', false)).toBe('node_modules');
  expect(await made.top('node_modules', true)).toBe('node_modules');
  expect(await made.top('packages/a/node_modules/y', false)).toBe('packages/a/node_modules');
  expect(await made.top('src/gen.ts', false)).toBe('src/gen.ts');
  expect(await made.top('src/a.ts', false)).toBeUndefined();
  expect(await made.top('src/new.ts', false)).toBeUndefined();
  expect(await made.top('new/node_modules/x', false)).toBeUndefined();
  expect(await made.top('package.json', false)).toBeUndefined();
  expect(await made.top('ignored/x', false)).toBe('ignored');
  expect([await made.whole('node_modules'), await made.whole('src'), await made.whole('ignored')]).toEqual([
    true,
    false,
    true,
  ]);
});

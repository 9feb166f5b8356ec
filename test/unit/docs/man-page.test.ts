import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { manPage } from './man-page.ts';

it('run-claude.1 is current (npm run generate), and in the package', async () => {
  await expect(manPage()).toMatchFileSnapshot('../../../docs/run-claude.1');
  const { man } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
    readonly man: readonly string[];
  };
  // npm links the pages of a list alone.
  expect(man).toEqual(['./docs/run-claude.1']);
});

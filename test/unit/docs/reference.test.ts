import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { readPage } from '../../support/markdown.ts';
import { currentPage, GENERATED_PARTS } from './reference-pages.ts';

it.each(Object.keys(GENERATED_PARTS))('%s is current (npm run generate)', async (name) => {
  await expect(currentPage(name)).toMatchFileSnapshot(`../../../${name}`);
});

it('docs/reference/error-codes.md has every error code of the source', () => {
  const folder = new URL('../../../src/', import.meta.url);
  const text = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(new URL(file, folder), 'utf8'))
    .join('\n');
  const thrown = [...text.matchAll(/\bnew RunClaudeError\(\s*'([A-Z_]+)'/g)].map(([, code]) => code);
  const documented = [...readPage('docs/reference/error-codes.md').matchAll(/^\| `([A-Z_]+)` \|/gm)].map(
    ([, code]) => code,
  );
  expect(thrown.length).toBeGreaterThan(100);
  expect([...new Set(thrown)].filter((code) => !documented.includes(code))).toEqual([]);
});

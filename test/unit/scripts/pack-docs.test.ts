import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { packaged, packLinks } from '../../../scripts/pack-docs.mjs';
import { linksOf, listPages, readPage } from '../../support/markdown.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const { files } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { files: readonly string[] };
const isPackaged = packaged(files);
const BASE = 'https://example.org/run-claude/blob/v1';

/** Relative links of a page, as paths of the repository. */
const targetsOf = (page: string, text: string): readonly string[] =>
  linksOf(text)
    .filter((target) => !/^([a-z]+:|#)/.test(target))
    .map((target) => path.posix.join(path.posix.dirname(page), target.split('#')[0] ?? ''));

describe('links of the packaged pages', () => {
  const pages = listPages().filter(isPackaged);

  it('lead to a file of the package, or to the repository', () => {
    const broken = pages.flatMap((page) =>
      targetsOf(page, packLinks(page, readPage(page), isPackaged, BASE))
        .filter((name) => !isPackaged(name) || !existsSync(path.join(root, name)))
        .map((name) => `${page}: ${name}`),
    );
    expect(pages.length).toBeGreaterThan(50);
    expect(broken).toEqual([]);
  });

  it('would break in the package as they are in the repository', () => {
    const outside = pages.flatMap((page) => targetsOf(page, readPage(page))).filter((name) => !isPackaged(name));
    expect(outside.length).toBeGreaterThan(100);
  });

  it('of internals, tests and sources become addresses, others and code stay', () => {
    const text =
      '[a](../internals/release.md#x) [b](../audit.md) [c](../../src/main.ts) `[d](../../src)` [e](https://e.org)';
    expect(packLinks('docs/how-to/p.md', text, isPackaged, BASE)).toBe(
      `[a](${BASE}/docs/internals/release.md#x) [b](../audit.md) [c](${BASE}/src/main.ts) \`[d](../../src)\` [e](https://e.org)`,
    );
  });

  it('the pages of maintainers are not in the package', () => {
    expect(pages.filter((name) => name.startsWith('docs/internals/'))).toEqual([]);
    expect(listPages().filter((name) => name.startsWith('docs/internals/')).length).toBeGreaterThan(3);
  });
});

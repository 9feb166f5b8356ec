import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { anchorsOf, linksOf, listPages, readPage } from '../../support/markdown.ts';

const root = path.resolve(import.meta.dirname, '../../..');

/** Why a link of a page leads nowhere; undefined: it leads somewhere, or to another site. */
function brokenLink(page: string, target: string): string | undefined {
  if (/^(https?|mailto):/.test(target)) return undefined;
  const [file = '', anchor] = target.split('#');
  const name = file === '' ? page : path.posix.join(path.posix.dirname(page), file);
  if (name.startsWith('..')) return `${page}: ${target} is outside the repository`;
  if (!existsSync(path.join(root, name))) return `${page}: ${target} does not exist`;
  if (anchor === undefined || !name.endsWith('.md')) return undefined;
  return anchorsOf(readPage(name)).has(anchor) ? undefined : `${page}: ${name} has no heading for #${anchor}`;
}

describe('links of the documents', () => {
  const pages = listPages();

  it('every relative link and anchor resolves', () => {
    const links = pages.flatMap((page) => linksOf(readPage(page)).map((target) => [page, target] as const));
    expect(links.length).toBeGreaterThan(100);
    expect(links.flatMap(([page, target]) => brokenLink(page, target) ?? [])).toEqual([]);
  });

  it('a link to a missing page, heading or parent folder is found', () => {
    expect(brokenLink('README.md', 'docs/nowhere.md')).toContain('does not exist');
    expect(brokenLink('docs/tutorial.md', '../README.md#no-such-heading')).toContain('has no heading');
    expect(brokenLink('docs/tutorial.md', '../../other.md')).toContain('outside');
    expect(brokenLink('README.md', 'https://example.org/')).toBeUndefined();
  });

  it('every page below docs/ can be reached from docs/README.md', () => {
    const reached = new Set<string>();
    const follow = (page: string): void => {
      if (reached.has(page)) return;
      reached.add(page);
      for (const target of linksOf(readPage(page))) {
        const name = path.posix.join(path.posix.dirname(page), target.split('#')[0] ?? '');
        if (pages.includes(name)) follow(name);
      }
    };
    follow('docs/README.md');
    expect(pages.filter((page) => page.startsWith('docs/') && !reached.has(page))).toEqual([]);
  });

  it('every document named in source, scripts, benchmarks and images exists', () => {
    const files = execFileSync('git', ['ls-files', '-z', 'src', 'scripts', 'bench', 'images', 'seccomp', '.github'], {
      cwd: root,
      encoding: 'utf8',
    });
    const named = files.split('\0').flatMap((file) => {
      if (!/\.(ts|mjs|cjs|sh|c|h|md|json|yml)$/.test(file)) return [];
      const text = readFileSync(path.join(root, file), 'utf8');
      return [...text.matchAll(/(?<![\w/'])docs\/[\w/-]+\.(?:md|json)(?:#([\w-]+))?/g)].map(([name]) => [file, name]);
    });
    expect(named.length).toBeGreaterThan(10);
    expect(
      named.flatMap(([file, name = '']) => brokenLink('README.md', name)?.replace('README.md', `${file}`) ?? []),
    ).toEqual([]);
  });
});

import { expect, it } from 'vitest';
import type { Archive } from '../../../../src/environment/caches/ecosystem.ts';
import { checkArchives, skippedLines } from '../../../../src/environment/caches/fill/check-archives.ts';

const HEX = 'a'.repeat(64);
const archive = (part: Partial<Archive> = {}): Archive => ({
  name: 'lib 1.0.0',
  url: 'https://registry.test/lib/-/lib-1.0.0.tgz',
  hash: { name: 'sha256', hex: HEX },
  path: 'lib-1.0.0.tgz',
  ...part,
});
const check = (...archives: Archive[]) => checkArchives({ hosts: ['registry.test'] }, [{ archives, skipped: [] }]);

it('takes an archive of a registry with a strong hash', () => {
  expect(check(archive())).toEqual({ archives: [archive()], skipped: [] });
});

it.each<[string, Partial<Archive>]>([
  ['a file', { url: 'file:///etc/passwd' }],
  ['a repository', { url: 'git+ssh://git@registry.test/lib.git#0123' }],
  ['another host', { url: 'https://registry.test.example/lib-1.0.0.tgz' }],
  ['plain http', { url: 'http://registry.test/lib-1.0.0.tgz' }],
  ['another port', { url: 'https://registry.test:8443/lib-1.0.0.tgz' }],
  ['a login', { url: 'https://user:word@registry.test/lib-1.0.0.tgz' }],
  ['a query', { url: 'https://registry.test/lib-1.0.0.tgz?x=1' }],
  ['no address', { url: 'lib-1.0.0.tgz' }],
  ['a short hash', { hash: { name: 'sha512', hex: HEX } }],
  ['a hash that is not one', { hash: { name: 'sha256', hex: `${'a'.repeat(62)}..` } }],
  ['a path above the cache', { path: '../lib.tgz' }],
  ['a path above the cache, further in', { path: 'a/../../lib.tgz' }],
  ['an absolute path', { path: '/home/agent/.bashrc' }],
  ['a hidden name', { path: '.npmrc' }],
  ['an option as a name', { path: '-rf' }],
  ['a control character', { path: 'lib\n.tgz' }],
])('leaves out %s', (_, part) => {
  const { archives, skipped } = check(archive(part), archive({ path: 'other.tgz' }));
  expect(archives.map(({ path }) => path)).toEqual(['other.tgz']);
  expect(skipped).toHaveLength(1);
});

it('leaves out both of two archives with one name and different bytes', () => {
  const other = archive({ hash: { name: 'sha256', hex: 'b'.repeat(64) } });
  expect(check(archive(), other).archives).toEqual([]);
  expect(check(archive(), archive()).archives).toHaveLength(1);
});

it('refuses lock files of 50,000 packages as a whole', () => {
  const many = Array.from({ length: 50_000 }, (_, at) => archive({ path: `lib-${at}.tgz` }));
  expect(() => check(...many)).toThrow('more than 30000 files are named');
  expect(check(...many.slice(0, 30_000)).archives).toHaveLength(30_000);
});

it('says for each reason how many are left out, and names three', () => {
  const names = ['a', 'b', 'c', 'd'].map((name) => ({ name, why: 'from another host' }));
  expect(skippedLines([...names, { name: 'e', why: 'without a hash' }])).toEqual([
    '4 packages are not in the cache: from another host (a, b, c, …)',
    '1 package is not in the cache: without a hash (e)',
  ]);
});

it('shows the name that a lock file chose in one short line', () => {
  const name = `lib\n[sandbox] All archives were verified.\u202e${'x'.repeat(5000)}`;
  const { archives, skipped } = check(archive({ name }), archive({ name, url: 'none', path: 'other.tgz' }));
  for (const { name: shown } of [...archives, ...skipped]) {
    expect(shown).toMatch(/^lib\?\[sandbox\] All archives were verified\.\?x+$/);
    expect(shown.length).toBeLessThan(200);
  }
});

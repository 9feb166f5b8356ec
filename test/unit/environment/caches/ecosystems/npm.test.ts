import { expect, it } from 'vitest';
import { npm } from '../../../../../src/environment/caches/ecosystems/npm.ts';

const INTEGRITY = `sha512-${Buffer.alloc(64, 1).toString('base64')}`;
const HEX = '01'.repeat(64);
const read = (packages: Record<string, object>) => npm.read(JSON.stringify({ lockfileVersion: 3, packages }), '');

it('reads packages with a scope, below others and under another name, each at the path of its hash', () => {
  const { archives, skipped } = read({
    '': { name: 'project', version: '1.0.0' },
    'packages/own': { version: '1.0.0' },
    'node_modules/own': { resolved: 'packages/own', link: true },
    'node_modules/a/node_modules/@scope/lib': {
      version: '2.0.0-rc.1',
      resolved: 'https://registry.npmjs.org/@scope/lib/-/lib-2.0.0-rc.1.tgz',
      integrity: `sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk= ${INTEGRITY}`,
    },
    'node_modules/alias': {
      name: 'real',
      version: '1.0.0',
      resolved: 'https://registry.npmjs.org/real/-/real-1.0.0.tgz',
      integrity: INTEGRITY,
    },
    'node_modules/a/node_modules/inside': { version: '1.0.0', inBundle: true },
  });
  expect(skipped).toEqual([]);
  expect(archives.map(({ name, url }) => [name, url])).toEqual([
    ['@scope/lib 2.0.0-rc.1', 'https://registry.npmjs.org/@scope/lib/-/lib-2.0.0-rc.1.tgz'],
    ['real 1.0.0', 'https://registry.npmjs.org/real/-/real-1.0.0.tgz'],
  ]);
  expect(archives[0]?.hash).toEqual({ name: 'sha512', hex: HEX });
  expect(archives[0]?.path).toBe(`sha512/01/01/${HEX.slice(4)}`);
});

it('makes up the address where the lock file has none', () => {
  const { archives } = read({ 'node_modules/@a/b': { version: '1.2.3+build', integrity: INTEGRITY } });
  expect(archives[0]?.url).toBe('https://registry.npmjs.org/@a/b/-/b-1.2.3.tgz');
  expect(read({ 'node_modules/../../b': { version: '1.2.3', integrity: INTEGRITY } }).archives).toEqual([]);
});

it.each([
  ['git+ssh://git@github.com/a/lib.git#0123456', INTEGRITY],
  ['file:../lib-1.0.0.tgz', INTEGRITY],
  ['https://registry.npmjs.org/evil/-/evil-1.0.0.tgz', INTEGRITY],
  ['https://registry.npmjs.org/lib/-/lib-6.6.6.tgz', INTEGRITY],
  ['https://registry.npmjs.org/lib/-/lib-1.0.0.tgz', 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk='],
  ['https://registry.npmjs.org/lib/-/lib-1.0.0.tgz', undefined],
])('leaves out a package of %s with the hash %s', (resolved, integrity) => {
  const { archives, skipped } = read({ 'node_modules/lib': { version: '1.0.0', resolved, integrity } });
  expect(archives).toEqual([]);
  expect(skipped).toHaveLength(1);
});

it('refuses what is not a lock file', () => {
  expect(() => npm.read('<html>', '')).toThrow('it is not JSON');
});

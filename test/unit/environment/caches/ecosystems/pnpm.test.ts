import { expect, it } from 'vitest';
import { pnpm } from '../../../../../src/environment/caches/ecosystems/pnpm.ts';
import { checkArchives } from '../../../../../src/environment/caches/fill/check-archives.ts';

const INTEGRITY = `sha512-${Buffer.alloc(64, 1).toString('base64')}`;
const HEX = '01'.repeat(64);
const read = (lock: string) => checkArchives(pnpm, [pnpm.read(lock, 'pnpm-lock.yaml')]);

it.each([
  ['9', 'lib@1.0.0:', "'@a/lib@2.0.0':"],
  ['6', '/lib@1.0.0(peer@1.0.0):', '/@a/lib@2.0.0:'],
  ['5', '/lib/1.0.0_peer@1.0.0:', '/@a/lib/2.0.0:'],
])(
  'reads the packages of a lock file of form %s, each at the path of its hash, with the pnpmfile',
  (_, lib, scoped) => {
    const other = `sha512-${Buffer.alloc(64, 2).toString('base64')}`;
    const { archives, skipped } = read(`lockfileVersion: '9.0'

importers:

  .:
    dependencies:
      lib:
        specifier: ^1.0.0
        version: 1.0.0

packages:

  ${scoped}
    resolution: {integrity: ${other}}
    engines: {node: '>=4'}

  ${lib}
    resolution: {integrity: ${INTEGRITY}, tarball: https://registry.npmjs.org/lib/-/lib-1.0.0.tgz}
    deprecated: 'resolution: {integrity: sha512-x}'

snapshots:

  lib@1.0.0: {}
`);
    expect(skipped).toEqual([]);
    expect(archives.map(({ url, path }) => [url, path])).toEqual([
      ['', 'pnpmfile.cjs'],
      ['https://registry.npmjs.org/lib/-/lib-1.0.0.tgz', `sha512/01/01/${HEX.slice(4)}`],
      ['https://registry.npmjs.org/@a/lib/-/lib-2.0.0.tgz', `sha512/02/02/${HEX.slice(4).replaceAll('1', '2')}`],
    ]);
  },
);

it.each([
  [
    'a repository',
    'lib@https://codeload.github.com/a/lib/tar.gz/0123',
    '{tarball: https://codeload.github.com/a/lib/tar.gz/0123}',
  ],
  ['a repository with a version', 'lib@1.0.0', '{commit: 0123, repo: https://github.com/a/lib.git, type: git}'],
  ['a runtime', 'node@22.0.0', `{integrity: ${INTEGRITY}, type: binary, url: https://nodejs.org/x.tar.gz}`],
  ['no hash', 'lib@1.0.0', '{tarball: https://registry.npmjs.org/lib/-/lib-1.0.0.tgz}'],
  ['a weak hash', 'lib@1.0.0', '{integrity: sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=}'],
  ['another host', 'lib@1.0.0', `{integrity: ${INTEGRITY}, tarball: https://evil.test/lib/-/lib-1.0.0.tgz}`],
  ['a file', 'lib@1.0.0', `{integrity: ${INTEGRITY}, tarball: file:../../etc/passwd}`],
  ['another package', 'lib@1.0.0', `{integrity: ${INTEGRITY}, tarball: https://registry.npmjs.org/a/-/a-1.0.0.tgz}`],
  ['a name with folders', '../../evil@1.0.0', `{integrity: ${INTEGRITY}}`],
])('leaves out an entry of %s, and names it', (_, key, resolution) => {
  const { archives, skipped } = read(`packages:\n\n  ${key}:\n    resolution: ${resolution}\n`);
  expect(archives.filter(({ text }) => text === undefined)).toEqual([]);
  expect(skipped).toHaveLength(1);
});

it('folders of the project are no packages', () => {
  const lock = 'packages:\n\n  lib@file:lib:\n    resolution: {directory: lib, type: directory}\n';
  expect(read(lock).archives).toEqual([]);
});

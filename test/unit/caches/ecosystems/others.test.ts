import { expect, it } from 'vitest';
import { checkArchives } from '../../../../src/caches/check-archives.ts';
import type { Ecosystem } from '../../../../src/caches/ecosystem.ts';
import { ecosystemOf } from '../../../../src/caches/ecosystems.ts';
import type { CacheName } from '../../../../src/types/cache.ts';

const HEX = '01'.repeat(32);
const SUM = Buffer.from(HEX, 'hex').toString('base64');
const INTEGRITY = `sha512-${Buffer.alloc(64, 1).toString('base64')}`;

const read = (name: CacheName, lock: string): ReturnType<Ecosystem['read']> => {
  const row = ecosystemOf(name);
  return checkArchives(row, [row.read(lock, row.lockFiles[0] ?? '')]);
};
const listed = (name: CacheName, lock: string): string[][] =>
  read(name, lock).archives.map(({ url, path }) => [url, path]);

it('yarn: reads entries of Yarn 1, with scopes and other names, each at its name in a mirror', () => {
  const entry = (asked: string, url: string): string =>
    `${asked}:\n  version "1.0.0"\n  resolved "${url}#0123"\n  integrity ${INTEGRITY}\n`;
  const lock = `# yarn lockfile v1\n\n\n${[
    entry('"@a/lib@^1.0.0", "@a/lib@~1.0.0"', 'https://registry.yarnpkg.com/@a/lib/-/lib-1.0.0.tgz'),
    entry('"other@npm:real@1"', 'https://registry.yarnpkg.com/real/-/real-1.0.0.tgz'),
  ].join('\n')}`;
  expect(listed('yarn', lock)).toEqual([
    ['https://registry.yarnpkg.com/@a/lib/-/lib-1.0.0.tgz', '@a-lib-1.0.0.tgz'],
    ['https://registry.yarnpkg.com/real/-/real-1.0.0.tgz', 'real-1.0.0.tgz'],
  ]);
});

it.each([
  ['a repository', 'resolved "git+https://github.com/a/lib.git#0123"\n  integrity INTEGRITY'],
  ['no hash but SHA-1', 'resolved "https://registry.yarnpkg.com/lib/-/lib-1.0.0.tgz#0123"'],
  ['another package', 'resolved "https://registry.yarnpkg.com/evil/-/evil-1.0.0.tgz#0123"\n  integrity INTEGRITY'],
  ['another version', 'resolved "https://registry.yarnpkg.com/lib/-/lib-6.0.0.tgz#0123"\n  integrity INTEGRITY'],
  ['another host', 'resolved "https://evil.test/lib/-/lib-1.0.0.tgz#0123"\n  integrity INTEGRITY'],
])('yarn: leaves out an entry of %s', (_, fields) => {
  const { archives, skipped } = read(
    'yarn',
    `lib@^1:\n  version "1.0.0"\n  ${fields.replace('INTEGRITY', INTEGRITY)}\n`,
  );
  expect([archives.length, skipped.length]).toEqual([0, 1]);
});

it('yarn: refuses a lock file of Yarn 2 and later, with the reason', () => {
  expect(() => read('yarn', '__metadata:\n  version: 8\n')).toThrow('it is of Yarn 2 or later');
});

const crate = (source: string, more = `checksum = "${HEX}"`, name = 'serde'): string =>
  `[[package]]\nname = "${name}"\nversion = "1.0.0"\nsource = "${source}"\n${more}\n`;

it('cargo: reads crates of crates.io, and leaves the rest out', () => {
  const index = 'registry+https://github.com/rust-lang/crates.io-index';
  const path = 'serde-1.0.0.crate';
  const own = '[[package]]\nname = "own"\nversion = "0.1.0"\n';
  expect(listed('cargo', `version = 4\n\n${own}\n${crate(index)}`)).toEqual([
    [`https://static.crates.io/crates/serde/${path}`, path],
  ]);
  for (const lock of [
    crate('git+https://github.com/serde-rs/serde#0123', ''),
    crate('registry+https://evil.test/index'),
    crate(index, ''),
    crate(index, undefined, '../../evil'),
  ]) {
    const { archives, skipped } = read('cargo', lock);
    expect([archives.length, skipped.length], lock).toEqual([0, 1]);
  }
});

it('go: reads modules and their go.mod, capital letters escaped', () => {
  const lock = `github.com/BurntSushi/toml v1.0.0 h1:${SUM}\ngithub.com/BurntSushi/toml v1.0.0/go.mod h1:${SUM}\n`;
  const at = 'github.com/!burnt!sushi/toml/@v/v1.0.0';
  expect(listed('go', lock)).toEqual([
    ['', `${at}.info`],
    [`https://proxy.golang.org/${at}.mod`, `${at}.mod`],
    [`https://proxy.golang.org/${at}.zip`, `${at}.zip`],
  ]);
  for (const line of [`../../evil v1.0.0 h1:${SUM}`, `a.test/x v1.0.0 h2:${SUM}`, 'a.test/x v1.0.0 h1:short']) {
    expect(read('go', line).archives, line).toEqual([]);
    expect(read('go', line).skipped.length, line).toBeGreaterThan(0);
  }
});

it('pip: reads requirements with hashes, on several lines, and leaves the rest out', () => {
  const lock = `# comment
--index-url https://evil.test/simple
My_Lib.x[extra]==1.0 ; python_version > "3" \\
    --hash=sha256:${HEX} \\
    --hash=sha256:${'02'.repeat(32)}  # via y
`;
  expect(read('pip', lock).archives).toEqual([
    {
      name: 'My_Lib.x 1.0',
      url: 'https://pypi.org/simple/my-lib-x/',
      hash: { name: 'sha256', hex: HEX },
      anyOf: [HEX, '02'.repeat(32)],
      path: 'my-lib-x-1.0',
    },
  ]);
  for (const line of ['lib==1.0', 'lib>=1.0', 'lib @ https://evil.test/lib.whl', '-e .', 'git+https://evil.test/lib']) {
    const { archives, skipped } = read('pip', `${line}\n`);
    expect([archives.length, skipped.length], line).toEqual([0, 1]);
  }
});

const component = (attributes: string, artifact: string): string =>
  `<verification-metadata><components><component ${attributes}>${artifact}</component></components></verification-metadata>`;

it('gradle: reads files with a SHA-256 or SHA-512, and leaves weaker ones and names with folders out', () => {
  const lib = 'group="org.a" name="lib" version="1.0"';
  const good = `<artifact name="lib-1.0.jar">\n<sha256 value="${HEX}" origin="Generated"/>\n</artifact>`;
  const path = 'org/a/lib/1.0/lib-1.0.jar';
  expect(listed('gradle', component(lib, good))).toEqual([[`https://repo.maven.apache.org/maven2/${path}`, path]]);
  for (const [attributes, artifact] of [
    [lib, '<artifact name="lib-1.0.jar"><sha1 value="0123456789012345678901234567890123456789"/></artifact>'],
    [lib, good.replace('lib-1.0.jar', '../../../../.bashrc')],
    ['group="org/../.." name="lib" version="1.0"', good],
    ['group="org.a" name=".." version=".."', good],
  ] as const) {
    const { archives, skipped } = read('gradle', component(attributes, artifact));
    expect([archives.length, skipped.length], attributes).toEqual([0, 1]);
  }
});

import { expect, it } from 'vitest';
import type { CacheName } from '../../../../../src/core/types/setup/cache.ts';
import type { Ecosystem } from '../../../../../src/environment/caches/ecosystem.ts';
import { ecosystemOf } from '../../../../../src/environment/caches/ecosystems.ts';
import { checkArchives } from '../../../../../src/environment/caches/fill/check-archives.ts';

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
      release: { package: 'my-lib-x', version: '1.0', sha256: [HEX, '02'.repeat(32)] },
      path: 'my-lib-x-1.0',
    },
  ]);
  for (const line of ['lib==1.0', 'lib>=1.0', 'lib @ https://evil.test/lib.whl', '-e .', 'git+https://evil.test/lib']) {
    const { archives, skipped } = read('pip', `${line}\n`);
    expect([archives.length, skipped.length], line).toEqual([0, 1]);
  }
});

const crate = (source: string, more = `checksum = "${HEX}"`, name = 'serde', version = '1.0.0'): string =>
  `[[package]]\nname = "${name}"\nversion = "${version}"\nsource = "${source}"\n${more}\n`;

it('cargo: reads crates of crates.io with the files of its index, and leaves the rest out', () => {
  const index = 'registry+https://github.com/rust-lang/crates.io-index';
  const own = '[[package]]\nname = "own"\nversion = "0.1.0"\n';
  const lock = [own, crate(index), crate(index, undefined, 'serde', '2.0.0+b'), crate(index, undefined, 'Abc')].join(
    '\n',
  );
  const { archives, skipped } = read('cargo', `version = 4\n\n${lock}`);
  expect(skipped).toEqual([]);
  expect(archives.map(({ url, path, madeFrom }) => [url || madeFrom, path])).toEqual([
    ['https://static.crates.io/crates/Abc/Abc-1.0.0.crate', 'Abc-1.0.0.crate'],
    [['Abc-1.0.0.crate'], 'index/3/a/abc'],
    [undefined, 'index/config.json'],
    [['serde-1.0.0.crate', 'serde-2.0.0+b.crate'], 'index/se/rd/serde'],
    ['https://static.crates.io/crates/serde/serde-1.0.0.crate', 'serde-1.0.0.crate'],
    ['https://static.crates.io/crates/serde/serde-2.0.0%2Bb.crate', 'serde-2.0.0+b.crate'],
  ]);
  for (const one of [
    crate('git+https://github.com/serde-rs/serde#0123', ''),
    crate('registry+https://evil.test/index'),
    crate(index, ''),
    crate(index, undefined, '../../evil'),
  ]) {
    const found = read('cargo', one);
    expect([found.archives.length, found.skipped.length], one).toEqual([0, 1]);
  }
});

it('cargo: an index file is made from the crates of both lock files, and from none that is left out', () => {
  const row = ecosystemOf('cargo');
  const index = 'registry+https://github.com/rust-lang/crates.io-index';
  const contents = ['1.0.0', '2.0.0'].map((version) => row.read(crate(index, undefined, 'serde', version), ''));
  const made = (content: typeof contents) =>
    checkArchives(row, content).archives.find(({ path }) => path === 'index/se/rd/serde')?.madeFrom;
  expect(made(contents)).toEqual(['serde-1.0.0.crate', 'serde-2.0.0.crate']);
  const short = row.read(crate(index, 'checksum = "0123"', 'serde', '3.0.0'), '');
  expect(made([...contents, short])).toEqual(['serde-1.0.0.crate', 'serde-2.0.0.crate']);
  expect(made([short])).toBeUndefined();
});

const component = (attributes: string, artifact: string): string =>
  `<verification-metadata><components><component ${attributes}>${artifact}</component></components></verification-metadata>`;

it('gradle: reads files with a SHA-256 or SHA-512, and leaves weaker ones and names with folders out', () => {
  const lib = 'group="org.a" name="lib" version="1.0"';
  const good = `<artifact name="lib-1.0.jar">\n<sha256 value="${HEX}" origin="Generated"/>\n</artifact>`;
  const path = 'org/a/lib/1.0/lib-1.0.jar';
  expect(listed('gradle', component(lib, good))).toEqual([[`https://repo.maven.apache.org/maven2/${path}`, path]]);
  const two = `${good}\n<artifact name="none.jar"/>${good.replace('lib-1.0.jar', 'lib-1.0.pom')}`;
  const text = component(lib, two).replace(
    '</component>',
    `</component><!-- ${component(lib, good)} --><component group="b"/>`,
  );
  expect(listed('gradle', text).map(([, at]) => at)).toEqual([path, path.replace('.jar', '.pom')]);
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

it('maven: reads checksum files of the resolver, and leaves other lines and names with folders out', () => {
  const path = 'org/a/lib/1.0/lib-1.0.jar';
  const lock = `${HEX}  ${path}\n${HEX} *${path.replace('.jar', '.pom')}\n`;
  expect(listed('maven', lock)).toEqual([
    [`https://repo.maven.apache.org/maven2/${path}`, path],
    [`https://repo.maven.apache.org/maven2/${path.replace('.jar', '.pom')}`, path.replace('.jar', '.pom')],
  ]);
  for (const line of [`${HEX}  ../../.bashrc`, `${HEX}  /etc/passwd`, `0123  ${path}`, path, `${HEX}  a/./b.jar`]) {
    const { archives, skipped } = read('maven', line);
    expect([archives.length, skipped.length], line).toEqual([0, 1]);
  }
});

it('maven: reads every artifact of lockfile.json, however deep', () => {
  const row = ecosystemOf('maven');
  const url = 'https://repo.maven.apache.org/maven2/org/a/lib/1.0/lib-1.0.jar';
  const artifact = (resolved: string, more: object = {}) => ({
    ...{ groupId: 'org.a', artifactId: 'lib', version: '1.0', resolved, checksumAlgorithm: 'SHA-256', checksum: HEX },
    ...more,
  });
  const lockOf = (one: object): string => JSON.stringify({ dependencies: [{ artifactId: 'x', children: [one] }] });
  const readLock = (one: object) => checkArchives(row, [row.read(lockOf(one), 'lockfile.json')]);
  expect(readLock(artifact(url)).archives.map(({ url: at }) => at)).toEqual([url]);
  for (const one of [
    artifact('https://evil.test/maven2/org/a/lib/1.0/lib-1.0.jar'),
    artifact(url, { checksumAlgorithm: 'SHA-1', checksum: '01'.repeat(20) }),
    artifact(url, { checksum: undefined }),
    artifact('https://repo.maven.apache.org/maven2/../../x.jar'),
  ])
    expect([readLock(one).archives.length, readLock(one).skipped.length], JSON.stringify(one)).toEqual([0, 1]);
  expect(() => row.read('<html>', 'lockfile.json')).toThrow('it is not JSON');
});

it('two hash functions for one file: both have to match', () => {
  const row = ecosystemOf('maven');
  const path = 'org/a/lib/1.0/lib-1.0.jar';
  const contents = [`${HEX}  ${path}`, `${HEX}${HEX}  ${path}`].map((line) => row.read(line, ''));
  const namesOf = (order: typeof contents): unknown =>
    checkArchives(row, order).archives.map(({ hash, alsoHashes }) =>
      [hash, ...(alsoHashes ?? [])].map(({ name }) => name),
    );
  expect(namesOf(contents)).toEqual([['sha256', 'sha512']]);
  expect(namesOf([...contents].reverse())).toEqual([['sha512', 'sha256']]);
  const other = row.read(`${'f'.repeat(64)}  ${path}`, '');
  expect(namesOf([...contents, other]), 'a second SHA-256 of the same file').toEqual([]);
});

it('gradle: an artifact with two hashes has both', () => {
  const hashes = `<sha512 value="${HEX}${HEX}"/><sha256 value="${HEX}" origin="x"/>`;
  const xml = `<component group="a" name="b" version="1"><artifact name="b-1.jar">${hashes}</artifact></component>`;
  const [archive] = read('gradle', `${xml}</verification-metadata>`).archives;
  expect(archive).toMatchObject({ hash: { name: 'sha512' }, alsoHashes: [{ name: 'sha256', hex: HEX }] });
  expect(archive, 'it may be of another repository').toMatchObject({ mayBeAbsent: true });
});

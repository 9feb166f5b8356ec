import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { expect, it, onTestFinished } from 'vitest';
import { cargoIndex } from '../../../../../src/environment/caches/inside/cargo-index.ts';

const SUM = '01'.repeat(32);

function scratch(): string {
  const dir = realpathSync(mkdtempSync(path.join(tmpdir(), 'run-claude-crate-')));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  return dir;
}

async function crate(files: Readonly<Record<string, string>>): Promise<string> {
  const tar = pack();
  for (const [name, content] of Object.entries(files)) tar.entry({ name }, content);
  tar.finalize();
  const file = path.join(scratch(), 'x.crate');
  const pieces: Buffer[] = [];
  for await (const piece of tar) pieces.push(piece as Buffer);
  writeFileSync(file, gzipSync(Buffer.concat(pieces)));
  return file;
}

/** What cargo reads of an index file: the version of each entry, and the entry. */
function entriesOf(index: Buffer): unknown[] {
  expect([...index.subarray(0, 5)]).toEqual([3, 2, 0, 0, 0]);
  const [revision, ...rest] = index.subarray(5).toString('utf8').split('\0');
  expect(revision).toBe('etag: "run-claude"');
  return rest.flatMap((text, at) => (at % 2 === 1 ? [JSON.parse(text) as unknown] : []));
}

it('closes each archive, of which it reads only the beginning', async () => {
  const noise = randomBytes(1_000_000).toString('hex');
  const file = await crate({
    'lib-1.0.0/Cargo.toml': '[package]\nname = "lib"\nversion = "1.0.0"\n',
    'lib-1.0.0/x': noise,
  });
  const open = (): number => readdirSync('/proc/self/fd').length;
  const before = open();
  await cargoIndex(Array.from({ length: 50 }, () => ({ file, sum: SUM })));
  await expect.poll(open).toBeLessThan(before + 10);
});

it('has the dependencies and features of a manifest as the index of the registry has them', async () => {
  const manifest = `[package]
name = "lib"
version = "1.2.0"
links = "z"
rust-version = "1.60"
[dependencies]
plain = "1"
[dependencies.renamed]
version = "^2.0"
package = "real"
optional = true
default-features = false
features = ["a"]
[build-dependencies.cc]
version = "1"
[dev-dependencies.proptest]
version = "1"
[target."cfg(unix)".dependencies.libc]
version = "0.2"
[features]
default = ["dep:renamed"]
`;
  const file = await crate({
    'lib-1.2.0/src/lib.rs': 'x'.repeat(3000),
    'lib-1.2.0/tests/Cargo.toml': '[package]\nname = "other"\n',
    'lib-1.2.0/Cargo.toml': manifest,
  });
  const dependency = { req: '1', features: [], optional: false, default_features: true, target: null, kind: 'normal' };
  expect(entriesOf(await cargoIndex([{ file, sum: SUM }]))).toEqual([
    {
      name: 'lib',
      vers: '1.2.0',
      deps: [
        { ...dependency, name: 'plain' },
        {
          ...dependency,
          name: 'renamed',
          req: '^2.0',
          features: ['a'],
          optional: true,
          default_features: false,
          package: 'real',
        },
        { ...dependency, name: 'cc', kind: 'build' },
        { ...dependency, name: 'libc', req: '0.2', target: 'cfg(unix)' },
      ],
      features: { default: ['dep:renamed'] },
      cksum: SUM,
      yanked: false,
      links: 'z',
      rust_version: '1.60',
      v: 2,
    },
  ]);
});

it.each([
  ['no manifest', { 'lib/src/lib.rs': '' }],
  ['a manifest that is not TOML', { 'lib/Cargo.toml': '[' }],
  ['a manifest without a name', { 'lib/Cargo.toml': '[package]\n' }],
  ['an empty manifest', { 'lib/Cargo.toml': '' }],
  ['a manifest of 5 MB', { 'lib/Cargo.toml': '#'.repeat(5 << 20) }],
])('refuses a crate with %s', async (_, files) => {
  const file = await crate(files as Record<string, string>);
  await expect(cargoIndex([{ file, sum: SUM }])).rejects.toThrow();
});

it('stops reading a crate of 1 MB that unpacks to 1 GB', async () => {
  const header = Buffer.alloc(512);
  header.write('lib/zeros');
  header.write((2 ** 30).toString(8).padStart(11, '0'), 124);
  header.write('0', 156);
  const zeros = gzipSync(Buffer.alloc(16 << 20));
  const file = path.join(scratch(), 'bomb.crate');
  writeFileSync(file, Buffer.concat([gzipSync(header), ...Array.from({ length: 64 }, () => zeros)]));
  await expect(cargoIndex([{ file, sum: SUM }])).rejects.toThrow('it unpacks to more than 512 MB');
});

import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { parse, type TomlTable } from 'smol-toml';
import { fileOfTar } from './tar-file.ts';

/** Of cargo's own cache of its index (cargo, src/cargo/sources/registry/index/cache.rs); another one is not read. */
const CACHE_VERSION = 3;
const INDEX_VERSION = 2;
/** Of the sparse protocol. The registry knows no such file, and sends its own. */
const REVISION = 'etag: "run-claude"';
const MAX_MANIFEST_BYTES = 4 * 1024 ** 2;

/**
 * The index file of a crate, from the archives of its versions, as cargo keeps it. `sums` has the SHA-256 of each archive.
 *
 * @throws {Error} for an archive without a manifest that cargo can read
 */
export async function cargoIndex(crates: readonly { readonly file: string; readonly sum: string }[]): Promise<Buffer> {
  const head = Buffer.alloc(5);
  head.writeUInt8(CACHE_VERSION, 0);
  head.writeUInt32LE(INDEX_VERSION, 1);
  const parts = [head, Buffer.from(`${REVISION}\0`)];
  for (const { file, sum } of crates) {
    // Not all of it is read: this closes the file then, and hands its errors on, which pipe() does not.
    const archive = pipeline(createReadStream(file), createGunzip(), () => undefined);
    const text = await fileOfTar(archive, /^[^/]+\/Cargo\.toml$/, MAX_MANIFEST_BYTES);
    const entry = indexEntry(parse(text.toString('utf8')), sum);
    parts.push(Buffer.from(`${entry.vers}\0${JSON.stringify(entry)}\0`));
  }
  return Buffer.concat(parts);
}

interface IndexEntry {
  readonly name: string;
  readonly vers: string;
  readonly deps: readonly IndexDependency[];
  readonly features: unknown;
  readonly cksum: string;
  readonly yanked: false;
  readonly links: unknown;
  readonly rust_version: unknown;
  readonly v: typeof INDEX_VERSION;
}

interface IndexDependency {
  readonly name: string;
  readonly req: string;
  readonly features: unknown;
  readonly optional: boolean;
  readonly default_features: boolean;
  readonly target: string | null;
  readonly kind: 'normal' | 'build';
  readonly registry?: unknown;
  readonly package?: unknown;
}

/** doc.rust-lang.org/cargo/reference/registry-index.html, "JSON schema". */
function indexEntry(manifest: TomlTable, sum: string): IndexEntry {
  const about = tableOf(manifest['package']);
  const { name, version } = about;
  if (typeof name !== 'string' || typeof version !== 'string') throw new Error('it has no name and version');
  const targets = Object.entries(tableOf(manifest['target']));
  const deps = [
    ...dependenciesOf(manifest, null),
    ...targets.flatMap(([target, table]) => dependenciesOf(tableOf(table), target)),
  ];
  return {
    name,
    vers: version,
    deps,
    features: tableOf(manifest['features']),
    cksum: sum,
    yanked: false,
    links: about['links'] ?? null,
    rust_version: about['rust-version'] ?? null,
    v: INDEX_VERSION,
  };
}

/** Those of a registry's crate that cargo follows: no development dependencies. */
function dependenciesOf(table: TomlTable, target: string | null): IndexDependency[] {
  const kinds = [
    ['normal', 'dependencies'],
    ['build', 'build-dependencies'],
    ['build', 'build_dependencies'],
  ] as const;
  return kinds.flatMap(([kind, key]) =>
    Object.entries(tableOf(table[key])).map(([name, value]): IndexDependency => {
      const one: TomlTable = typeof value === 'string' ? { version: value } : tableOf(value);
      return {
        name,
        req: typeof one['version'] === 'string' ? one['version'] : '*',
        features: one['features'] ?? [],
        optional: one['optional'] === true,
        default_features: (one['default-features'] ?? one['default_features']) !== false,
        target,
        kind,
        ...(one['registry-index'] === undefined ? {} : { registry: one['registry-index'] }),
        ...(one['package'] === undefined ? {} : { package: one['package'] }),
      };
    }),
  );
}

function tableOf(value: unknown): TomlTable {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
    ? (value as TomlTable)
    : {};
}

import { createHash } from 'node:crypto';
import { PRESETS } from '../../../network/gateway/rules/presets.ts';
import type { Archive, Ecosystem, LockContent, Skipped } from '../ecosystem.ts';
import { refuseVersion } from '../lock-text.ts';

const CRATES_IO =
  /^(?:registry\+https:\/\/github\.com\/rust-lang\/crates\.io-index|sparse\+https:\/\/index\.crates\.io\/)$/;
const CRATES = 'https://static.crates.io/crates';
/**
 * Directories of crates.io in cargo's home: the hash of its address, as cargo counts it since 1.85 and since 1.70. Releases
 * before 1.70 keep the index as a git repository.
 */
const REGISTRIES = ['index.crates.io-1949cf8c6b5b557f', 'index.crates.io-6f17d22bba15001f'];
const CRATE = /\.crate$/;
const CONFIG = `${JSON.stringify({ dl: CRATES, api: 'https://crates.io' })}\n`;

/**
 * Cargo takes an archive from `registry/cache` of its home, and what it knows of a crate from `registry/index`, which is
 * made here from the archives: the index of the registry has no hash in the lock file. Online, cargo asks the registry for
 * the index again.
 */
export const cargo: Ecosystem = {
  name: 'cargo',
  lockFiles: ['Cargo.lock'],
  hosts: PRESETS['crates'] ?? [],
  read: readCargoLock,
  linksOf: (path) =>
    REGISTRIES.map((registry) => {
      if (CRATE.test(path)) return `.cargo/registry/cache/${registry}/${path}`;
      const at = path.replace(/^index\//, '');
      return `.cargo/registry/index/${registry}/${at === 'config.json' ? at : `.cache/${at}`}`;
    }),
  env: () => ({}),
};

function readCargoLock(text: string): LockContent {
  // Without a version it is of Cargo before 1.53. `version` of a package comes behind its header.
  refuseVersion(/^version = (\d{1,6})\s*$/m.exec(text.split('[[package]]', 1)[0] ?? '')?.[1], [1, 2, 3, 4]);
  const archives: Archive[] = [];
  const skipped: Skipped[] = [];
  for (const entry of text.split(/^\[\[package\]\]/m).slice(1)) {
    const field = (key: string): string | undefined => new RegExp(`^${key} = "([^"\\n]{1,500})"`, 'm').exec(entry)?.[1];
    const [name, version, source, hex] = ['name', 'version', 'source', 'checksum'].map(field);
    // A package of the project itself.
    if (name === undefined || version === undefined || source === undefined) continue;
    const called = `${name} ${version}`;
    if (!CRATES_IO.test(source)) skipped.push({ name: called, why: 'not from a registry' });
    else if (hex === undefined) skipped.push({ name: called, why: 'without a hash' });
    else if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name) || !/^\d[0-9A-Za-z.+-]{0,100}$/.test(version))
      skipped.push({ name: called, why: 'with a name that is not a plain file name' });
    else {
      const path = `${name}-${version}.crate`;
      const url = `${CRATES}/${name}/${encodeURIComponent(path)}`;
      archives.push({ name: called, url, hash: { name: 'sha256', hex }, path });
    }
  }
  return { archives: archives.length === 0 ? [] : [...archives, ...indexOf(archives)], skipped };
}

/** The files of the index: one for each crate, made from the archives of its versions. */
function indexOf(crates: readonly Archive[]): Archive[] {
  const hash = { name: 'sha256', hex: createHash('sha256').update(CONFIG).digest('hex') } as const;
  const byPath = new Map<string, Archive>();
  for (const { name: called, path: crate } of crates) {
    const name = called.replace(/ .*$/, '');
    const path = `index/${indexPath(name.toLowerCase())}`;
    const madeFrom = [...(byPath.get(path)?.madeFrom ?? []), crate];
    byPath.set(path, { name, url: '', hash, madeFrom, path });
  }
  return [{ name: 'config.json', text: CONFIG, url: '', hash, path: 'index/config.json' }, ...byPath.values()];
}

/** doc.rust-lang.org/cargo/reference/registry-index.html, "Index files". */
function indexPath(name: string): string {
  if (name.length < 3) return `${name.length}/${name}`;
  if (name.length === 3) return `3/${name.slice(0, 1)}/${name}`;
  return `${name.slice(0, 2)}/${name.slice(2, 4)}/${name}`;
}

import { PRESETS } from '../../gateway/rules/presets.ts';
import type { Archive, Ecosystem, LockContent, Skipped } from '../ecosystem.ts';

const CRATES_IO =
  /^(?:registry\+https:\/\/github\.com\/rust-lang\/crates\.io-index|sparse\+https:\/\/index\.crates\.io\/)$/;
/**
 * Directories of crates.io in cargo's home: the hash of its address, by the releases of cargo that count it so (since 1.85,
 * since 1.70, before).
 */
const REGISTRIES = [
  'index.crates.io-1949cf8c6b5b557f',
  'index.crates.io-6f17d22bba15001f',
  'github.com-1ecc6299db9ec823',
];

/** Cargo takes an archive from `registry/cache` of its home, and compares it with the lock file when it unpacks it. */
export const cargo: Ecosystem = {
  name: 'cargo',
  lockFiles: ['Cargo.lock'],
  hosts: PRESETS['crates'] ?? [],
  read: readLock,
  linksIn: REGISTRIES.map((registry) => `.cargo/registry/cache/${registry}`),
  env: () => ({}),
};

function readLock(text: string): LockContent {
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
    else if (!/^[A-Za-z0-9_-]+$/.test(name) || !/^[0-9A-Za-z.+-]+$/.test(version))
      skipped.push({ name: called, why: 'with a name that is not a plain file name' });
    else {
      const path = `${name}-${version}.crate`;
      const url = `https://static.crates.io/crates/${name}/${encodeURIComponent(path)}`;
      archives.push({ name: called, url, hash: { name: 'sha256', hex }, path });
    }
  }
  return { archives, skipped };
}

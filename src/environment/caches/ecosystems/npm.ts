import { isAddressOfPackage } from '../../../audit/locks/lock-archives.ts';
import { readNpmPackages } from '../../../audit/locks/lockfiles.ts';
import { PRESETS } from '../../../network/gateway/rules/presets.ts';
import type { Archive, Ecosystem, LockContent, Skipped } from '../ecosystem.ts';
import { hashOfIntegrity } from '../integrity.ts';
import { refuseVersion } from '../lock-text.ts';

/**
 * npm finds an archive by the hash in the lock file, in `_cacache/content-v2` of its cache (cacache 20, lib/content/path.js
 * and read.js), and checks its bytes again. Neither its index nor the registry is asked.
 */
export const npm: Ecosystem = {
  name: 'npm',
  lockFiles: ['npm-shrinkwrap.json', 'package-lock.json'],
  hosts: PRESETS['npm'] ?? [],
  read: readNpmLock,
  linksOf: (path) => [`.npm/_cacache/content-v2/${path}`],
  env: () => ({}),
};

function versionOf(text: string): unknown {
  const root: unknown = text === '' ? undefined : JSON.parse(text);
  return typeof root === 'object' && root !== null ? Reflect.get(root, 'lockfileVersion') : undefined;
}

function readNpmLock(text: string): LockContent {
  const packages = readNpmPackages(text);
  if (packages === undefined) throw new Error('it is not JSON');
  refuseVersion(versionOf(text), [1, 2, 3]);
  const archives: Archive[] = [];
  const skipped: Skipped[] = [];
  for (const [path, one] of packages) {
    const name = nameOf(path, one);
    // The project itself, folders of it, and what is inside of another archive.
    if (name === undefined || one.link === true || Reflect.get(one, 'inBundle') === true) continue;
    const version = String(one.version);
    const resolved = typeof one.resolved === 'string' ? one.resolved : npmUrl(name, version);
    const hash = hashOfIntegrity(one.integrity);
    const called = `${name} ${version}`;
    if (hash === undefined) skipped.push({ name: called, why: 'without a hash' });
    else if (resolved?.startsWith('https:') !== true) skipped.push({ name: called, why: 'not from a registry' });
    else if (!isAddressOfPackage(resolved, name, version))
      skipped.push({ name: called, why: 'from an address of another package' });
    else archives.push({ name: called, url: resolved, hash, path: contentPath(hash.hex) });
  }
  return { archives, skipped };
}

/** Where npm keeps an archive of this hash. */
export function contentPath(hex: string): string {
  return `sha512/${hex.slice(0, 2)}/${hex.slice(2, 4)}/${hex.slice(4)}`;
}

/** The address that npm makes up where a lock file names none. */
export function npmUrl(name: string, version: string): string | undefined {
  if (!/^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[A-Za-z0-9~_-][A-Za-z0-9._~-]*$/.test(name)) return undefined;
  if (!/^\d[A-Za-z0-9.+-]*$/.test(version)) return undefined;
  return `https://registry.npmjs.org/${name}/-/${name.replace(/^.*\//, '')}-${version.replace(/\+.*$/, '')}.tgz`;
}

function nameOf(path: string, one: object): string | undefined {
  const at = path.lastIndexOf('node_modules/');
  if (at < 0) return undefined;
  const alias: unknown = Reflect.get(one, 'name');
  return typeof alias === 'string' ? alias : path.slice(at + 'node_modules/'.length);
}

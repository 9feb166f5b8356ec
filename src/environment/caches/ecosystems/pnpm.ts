import { createHash } from 'node:crypto';
import { isAddressOfPackage } from '../../../audit/locks/lock-archives.ts';
import { PRESETS } from '../../../network/gateway/rules/presets.ts';
import type { Archive, Ecosystem, LockContent, Skipped } from '../ecosystem.ts';
import { hashOfIntegrity } from '../integrity.ts';
import { refuseVersion } from '../lock-text.ts';
import { contentPath, npmUrl } from './npm.ts';
import { PNPMFILE } from './pnpmfile.ts';

const FILE = 'pnpmfile.cjs';
/** A package of pnpm-lock.yaml 9 (`lib@1.0.0`), 6 (`/lib@1.0.0`) or 5 (`/lib/1.0.0`), without its peers. */
const KEY = /^ {2}['"]?\/?((?:@[^/@\s]{1,100}\/)?[^@/:'"\s(]{1,200})[@/](\d[^:'"(\s_]{0,100})[^:]{0,2000}:/;
const FOLDER = /\btype: directory\b/;

/**
 * pnpm asks a fetcher of its global pnpmfile for each package of the lock file (pnpm.io/pnpmfile), in releases 9 to 12. The
 * cache's own fetcher answers with the archive that has the hash, which pnpm compares with the lock file.
 */
export const pnpm: Ecosystem = {
  name: 'pnpm',
  lockFiles: ['pnpm-lock.yaml'],
  hosts: PRESETS['npm'] ?? [],
  read: readPnpmLock,
  linksOf: () => [],
  // Releases before 11 read their own settings file. npm prints a warning for the variable that they read.
  homeFiles: (dir) => ({ '.config/pnpm/rc': `global-pnpmfile=${dir}/${FILE}\n` }),
  env: (dir) => ({ PNPM_CONFIG_GLOBAL_PNPMFILE: `${dir}/${FILE}` }),
};

function readPnpmLock(text: string): LockContent {
  refuseVersion(/^lockfileVersion: ['"]?([\d.]{1,10})/m.exec(text)?.[1], [5, 6, 7, 9]);
  const archives: Archive[] = [];
  const skipped: Skipped[] = [];
  let isPackages = false;
  let entry: { readonly name: string; readonly version: string } | undefined;
  for (const line of text.split(/\r?\n/)) {
    if (/^\S/.test(line)) isPackages = /^packages:\s*$/.test(line);
    if (!isPackages) continue;
    if (/^ {2}\S/.test(line)) {
      const [, name, version] = KEY.exec(line) ?? [];
      entry = name === undefined || version === undefined ? undefined : { name, version };
      if (entry === undefined) skipped.push({ name: line.trim().slice(0, 60), why: 'not from a registry' });
    }
    const resolution = /^ {4}resolution: (\{.{0,4000}\})\s*$/.exec(line)?.[1];
    if (resolution === undefined || entry === undefined || FOLDER.test(resolution)) continue;
    const found = archiveOf(entry, resolution);
    if ('why' in found) skipped.push(found);
    else archives.push(found);
    entry = undefined;
  }
  return { archives: archives.length === 0 ? [] : [...archives, pnpmfile()], skipped };
}

function archiveOf({ name, version }: { name: string; version: string }, resolution: string): Archive | Skipped {
  const field = (key: string): string | undefined =>
    new RegExp(`[{,] {0,10}${key}: {0,10}['"]?([^'",}\\s]{1,2000})`).exec(resolution)?.[1];
  const called = `${name} ${version}`;
  const hash = hashOfIntegrity(field('integrity'));
  const url = field('tarball') ?? npmUrl(name, version);
  if (field('type') !== undefined || field('repo') !== undefined) return { name: called, why: 'not from a registry' };
  if (hash === undefined) return { name: called, why: 'without a hash' };
  if (url?.startsWith('https:') !== true) return { name: called, why: 'not from a registry' };
  if (!isAddressOfPackage(url, name, version)) return { name: called, why: 'from an address of another package' };
  return { name: called, url, hash, path: contentPath(hash.hex) };
}

function pnpmfile(): Archive {
  const hex = createHash('sha256').update(PNPMFILE).digest('hex');
  return { name: FILE, text: PNPMFILE, url: '', hash: { name: 'sha256', hex }, path: FILE };
}

import { isAddressOfPackage } from '../../../audit/locks/lock-archives.ts';
import { PRESETS } from '../../../network/gateway/rules/presets.ts';
import type { Archive, Ecosystem, LockContent, Skipped } from '../ecosystem.ts';
import { hashOfIntegrity } from '../integrity.ts';
import { refuseVersion } from '../lock-text.ts';

/** Where the links of a session are, in its home: yarn puts what it fetches next to them. */
const MIRROR = '.cache/run-claude/yarn';

/**
 * Yarn 1 takes an archive from its offline mirror by its name (tarball-fetcher.js, getTarballMirrorPath), and compares it
 * with the hash in the lock file. Later releases keep archives in their own form, whose hash the lock file has.
 */
export const yarn: Ecosystem = {
  name: 'yarn',
  lockFiles: ['yarn.lock'],
  hosts: PRESETS['npm'] ?? [],
  read: readYarnLock,
  linksOf: (path) => [`${MIRROR}/${path}`],
  env: () => ({ YARN_YARN_OFFLINE_MIRROR: `/home/agent/${MIRROR}` }),
};

function readYarnLock(text: string): LockContent {
  if (/^__metadata:/m.test(text))
    throw new Error('it is of Yarn 2 or later, whose hashes are not those of the packages in the registry');
  refuseVersion(/^# yarn lockfile v(\d{1,6})/m.exec(text)?.[1], [1]);
  const archives: Archive[] = [];
  const skipped: Skipped[] = [];
  for (const entry of text.split(/\r?\n(?=\S)/)) {
    const version = /^ {2}version "([^"\n]{1,200})"/m.exec(entry)?.[1];
    if (version === undefined) continue;
    const resolved = /^ {2}resolved "([^"\n]{1,2000})"/m.exec(entry)?.[1]?.replace(/#.*$/, '');
    const asked = /^"?((?:@[^@/\s]+\/)?[^@/\s"]+)@(?:npm:((?:@[^@/\s]+\/)?[^@/\s"]+)@)?/.exec(entry);
    const name = asked?.[2] ?? asked?.[1] ?? '?';
    const called = `${name} ${version}`;
    const hash = hashOfIntegrity(/^ {2}integrity (.{1,2000})$/m.exec(entry)?.[1]);
    if (resolved?.startsWith('https:') !== true) skipped.push({ name: called, why: 'not from a registry' });
    else if (hash === undefined) skipped.push({ name: called, why: 'without a hash' });
    else if (!isAddressOfPackage(resolved, name, version))
      skipped.push({ name: called, why: 'from an address of another package' });
    else archives.push({ name: called, url: resolved, hash, path: mirrorName(resolved) });
  }
  return { archives, skipped };
}

/** The name of an archive in a mirror: packages of two scopes may have archives of one name. */
function mirrorName(url: string): string {
  const { pathname } = new URL(url);
  const [, scope, file] = /\/(?:(@[^/]+)(?:\/|%2f))?[^/]+\/-\/(?:@[^/]+\/)?([^/]+)$/.exec(pathname) ?? [];
  return `${scope === undefined ? '' : `${scope}-`}${file ?? pathname.replace(/^.*\//, '')}`;
}

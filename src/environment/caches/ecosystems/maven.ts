import { ownValue } from '../../../core/text/own-value.ts';
import { PRESETS } from '../../../network/gateway/rules/presets.ts';
import type { Archive, Ecosystem, HashName, LockContent, Skipped } from '../ecosystem.ts';

/** Maven Central, by both of its names. */
const CENTRAL = /^https:\/\/(?:repo\.maven\.apache\.org|repo1\.maven\.org)\/maven2\/(.{1,500})$/;
const LINE = /^([0-9a-f]{64,128}) [ *]?(\S{1,500})$/;
const ALGORITHMS: Readonly<Record<string, HashName>> = { 'SHA-256': 'sha256', 'SHA-512': 'sha512' };
const CHECKSUMS = ['checksums.sha256', 'checksums.sha512', 'checksums-central.sha256', 'checksums-central.sha512'];

/** Checksum and verification files name no repository: a file may be of one that is not Maven Central. */
export const NOT_ON_CENTRAL =
  'not on Maven Central. The session asks their own repositories: a host outside of the preset maven needs --allow-host HOST';

/**
 * A pom.xml has no hashes: those of a project are in the checksum files of Maven's resolver
 * (maven.apache.org/resolver/expected-checksums.html), or in lockfile.json of the maven-lockfile plugin. Maven takes what
 * is in its local repository.
 */
export const maven: Ecosystem = {
  name: 'maven',
  lockFiles: [...CHECKSUMS.map((file) => `.mvn/checksums/${file}`), 'lockfile.json'],
  hosts: PRESETS['maven'] ?? [],
  whyAbsent: NOT_ON_CENTRAL,
  read: (text, file) => (file.endsWith('.json') ? readLockfile(text) : readChecksums(text)),
  linksOf: (path) => [`.m2/repository/${path}`],
  env: () => ({}),
};

/** The lines of sha256sum or sha512sum over files of a repository. */
function readChecksums(text: string): LockContent {
  const archives: Archive[] = [];
  const skipped: Skipped[] = [];
  for (const line of text.split(/\r?\n/)) {
    if (line === '' || line.startsWith('#')) continue;
    const [, hex = '', path] = LINE.exec(line.slice(0, 1000)) ?? [];
    if (path === undefined) skipped.push({ name: line.slice(0, 60), why: 'without a hash' });
    else
      archives.push({
        ...fileOfCentral(path, { name: hex.length === 64 ? 'sha256' : 'sha512', hex }),
        mayBeAbsent: true,
      });
  }
  return { archives, skipped };
}

function fileOfCentral(path: string, hash: Archive['hash']): Archive {
  return { name: path.replace(/^.*\//, ''), url: `https://repo.maven.apache.org/maven2/${path}`, hash, path };
}

/** Every object with `resolved`, `checksum` and `checksumAlgorithm`, however deep: what uses a dependency has it inside. */
function readLockfile(text: string): LockContent {
  const archives: Archive[] = [];
  const skipped: Skipped[] = [];
  const left: unknown[] = [parsed(text)];
  for (let one = left.pop(); one !== undefined || left.length > 0; one = left.pop()) {
    if (typeof one !== 'object' || one === null) continue;
    for (const value of Object.values(one)) if (typeof value === 'object' && value !== null) left.push(value);
    const [resolved, checksum, algorithm, artifact] = ['resolved', 'checksum', 'checksumAlgorithm', 'artifactId'].map(
      (key): unknown => Reflect.get(one, key),
    );
    if (typeof resolved !== 'string' || resolved === '') continue;
    const name = `${String(artifact).slice(0, 60)} ${String(Reflect.get(one, 'version')).slice(0, 60)}`;
    const path = CENTRAL.exec(resolved)?.[1];
    const hash = typeof algorithm === 'string' ? ownValue(ALGORITHMS, algorithm) : undefined;
    if (hash === undefined || typeof checksum !== 'string') skipped.push({ name, why: 'without a hash' });
    else if (path === undefined) skipped.push({ name, why: 'from another host' });
    else archives.push(fileOfCentral(path, { name: hash, hex: checksum.toLowerCase() }));
  }
  return { archives, skipped };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('it is not JSON');
  }
}

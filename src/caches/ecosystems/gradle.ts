import { PRESETS } from '../../gateway/rules/presets.ts';
import type { Archive, Ecosystem, LockContent, Skipped } from '../ecosystem.ts';

const CENTRAL = 'https://repo.maven.apache.org/maven2';
const PART = /^[A-Za-z0-9_.+-]+$/;
const COMPONENT = /<component\s([^>]{0,1000})>([\s\S]*?)<\/component>/g;
const ARTIFACT = /<artifact\s+name="([^"]{1,300})"\s*>([\s\S]*?)<\/artifact>/g;
const SHA = /<(sha256|sha512)\s+value="([0-9a-f]{64,128})"/;

/**
 * Files of Maven Central that gradle/verification-metadata.xml has hashes of. Gradle takes a file from Maven's local
 * repository where the registry names its SHA-1, and compares it with the verification file. Maven has no lock file: it
 * takes what is in the local repository, whoever put it there. A pom.xml names no hash, so Maven alone has no cache.
 */
export const gradle: Ecosystem = {
  name: 'gradle',
  lockFiles: ['gradle/verification-metadata.xml'],
  hosts: PRESETS['maven'] ?? [],
  read: readLock,
  linksIn: ['.m2/repository'],
  env: () => ({}),
};

function readLock(text: string): LockContent {
  const archives: Archive[] = [];
  const skipped: Skipped[] = [];
  const plain = text.replace(/<!--[\s\S]*?-->/g, '');
  for (const [, attributes = '', content = ''] of plain.matchAll(COMPONENT)) {
    const [group, module, version] = ['group', 'name', 'version'].map(
      (key) => new RegExp(`(?:^|\\s)${key}="([^"]{1,300})"`).exec(attributes)?.[1] ?? '',
    ) as [string, string, string];
    const called = `${group}:${module} ${version}`;
    if (![group, module, version].every((part) => PART.test(part))) {
      skipped.push({ name: called, why: 'with a name that is not a plain file name' });
      continue;
    }
    for (const [, file = '', hashes = ''] of content.matchAll(ARTIFACT)) {
      const [, name, hex = ''] = SHA.exec(hashes) ?? [];
      const folder = `${group.replaceAll('.', '/')}/${module}/${version}`;
      const path = `${folder}/${file}`;
      if (name !== 'sha256' && name !== 'sha512') skipped.push({ name: called, why: 'without a hash' });
      else if (!PART.test(file)) skipped.push({ name: called, why: 'with a name that is not a plain file name' });
      else archives.push({ name: called, url: `${CENTRAL}/${path}`, hash: { name, hex }, path });
    }
  }
  return { archives, skipped };
}

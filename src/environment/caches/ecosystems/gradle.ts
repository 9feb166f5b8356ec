import { PRESETS } from '../../../network/gateway/rules/presets.ts';
import type { Archive, Ecosystem, HashName, LockContent, Skipped } from '../ecosystem.ts';
import { NOT_ON_CENTRAL } from './maven.ts';

const CENTRAL = 'https://repo.maven.apache.org/maven2';
const PART = /^[A-Za-z0-9_.+-]+$/;
const ATTRIBUTES = /^\s([^>]{1,1000})>/;
const FILE = /^\s{1,100}name="([^"]{1,300})"\s{0,100}>/;
const SHA = /<(sha256|sha512)\s{1,100}value="([0-9a-f]{64,128})"/g;

/**
 * Files of Maven Central that gradle/verification-metadata.xml has hashes of. Gradle takes a file from Maven's local
 * repository where the registry has it too and names its SHA-1 (DefaultCacheAwareExternalResourceAccessor), and compares
 * it with the verification file.
 */
export const gradle: Ecosystem = {
  name: 'gradle',
  lockFiles: ['gradle/verification-metadata.xml'],
  hosts: PRESETS['maven'] ?? [],
  whyAbsent: NOT_ON_CENTRAL,
  read: readGradleLock,
  linksOf: (path) => [`.m2/repository/${path}`],
  env: () => ({}),
};

function readGradleLock(text: string): LockContent {
  if (!/<\/verification-metadata\s{0,100}>/.test(text)) throw new Error('it has no end: </verification-metadata>');
  const archives: Archive[] = [];
  const skipped: Skipped[] = [];
  for (const component of elements(withoutComments(text), 'component')) {
    const [opening, attributes = ''] = ATTRIBUTES.exec(component) ?? [];
    if (opening === undefined) continue;
    const [group, module, version] = ['group', 'name', 'version'].map(
      (key) => new RegExp(`(?:^|\\s)${key}="([^"]{1,300})"`).exec(attributes)?.[1] ?? '',
    ) as [string, string, string];
    const called = `${group}:${module} ${version}`;
    if (![group, module, version].every((part) => PART.test(part))) {
      skipped.push({ name: called, why: 'with a name that is not a plain file name' });
      continue;
    }
    for (const artifact of elements(component.slice(opening.length), 'artifact')) {
      const [, file] = FILE.exec(artifact) ?? [];
      if (file === undefined) continue;
      const hashes = [...artifact.matchAll(SHA)].map(([, name, hex = '']) => ({ name: name as HashName, hex }));
      const folder = `${group.replaceAll('.', '/')}/${module}/${version}`;
      const path = `${folder}/${file}`;
      if (hashes.length === 0) skipped.push({ name: called, why: 'without a hash' });
      else if (!PART.test(file)) skipped.push({ name: called, why: 'with a name that is not a plain file name' });
      // checkArchives joins the entries of one path.
      else
        for (const hash of hashes)
          archives.push({ name: called, url: `${CENTRAL}/${path}`, hash, path, mayBeAbsent: true });
    }
  }
  return { archives, skipped };
}

/** What is between `<name` and the first `</name>` behind it. In linear time: the text is of anybody. */
function elements(text: string, name: string): string[] {
  return text
    .split(`</${name}>`)
    .slice(0, -1)
    .flatMap((part) => {
      const at = part.lastIndexOf(`<${name}`);
      return at < 0 ? [] : [part.slice(at + name.length + 1)];
    });
}

function withoutComments(text: string): string {
  const [first = '', ...rest] = text.split('<!--');
  return [first, ...rest.map((part) => part.split('-->').slice(1).join('-->'))].join('');
}

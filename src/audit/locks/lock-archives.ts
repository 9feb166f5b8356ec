import { isOfPackage } from '../../core/text/python-release.ts';
import { readStructure } from '../formats/structured.ts';

/** Reads one lock file: what it fetches under the name of another package or version. */
type Reader = (text: string, path: string) => string[];

/** Lock files with an address, a file or a second name for each entry. */
const READERS: readonly { readonly path: RegExp; readonly read: Reader }[] = [
  { path: /(^|\/)(pnpm-lock|shrinkwrap)\.yaml$/i, read: inPnpmLock },
  { path: /(^|\/)bun\.lock$/i, read: inBunLock },
  { path: /(^|\/)yarn\.lock$/i, read: inYarnLock },
  { path: /(^|\/)((uv|poetry|pdm)\.lock|pylock[^/]*\.toml)$/i, read: inPythonLock },
  { path: /(^|\/)composer\.lock$/i, read: inComposerLock },
  { path: /(^|\/)pubspec\.lock$/i, read: inPubLock },
  { path: /(^|\/)mix\.lock$/i, read: inMixLock },
  { path: /(^|\/)package\.resolved$/i, read: inSwiftLock },
];
const MAX_LINE_CHARS = 4000;

/** Entries of a lock file that are new or changed, and whose archive is of another package or version. */
export function strangeArchives(path: string, before: string, after: string): string[] {
  const reader = READERS.find((one) => one.path.test(path));
  if (reader === undefined) return contentUnderOneVersion(path, before, after);
  const old = new Set(before === '' ? [] : reader.read(before, path));
  return [...new Set(reader.read(after, path))].filter((one) => !old.has(one));
}

/** Whether an archive of a registry of npm carries a package and version in its address. */
export function isAddressOfPackage(url: string, name: string, version: string): boolean {
  const path = decoded(url).toLowerCase();
  const [own, base] = [name.toLowerCase(), name.toLowerCase().replace(/^.*\//, '')];
  const number = version.toLowerCase().replace(/\+.*/s, '');
  if (/\/-\//.test(path)) return path.includes(`/${own}/-/${base}-${number}`);
  return path.includes(`/${own}/`) && path.includes(number);
}

function decoded(url: string): string {
  try {
    return decodeURIComponent(url);
  } catch {
    // An invalid escape: compare the text unchanged.
    return url;
  }
}

const linesOf = (text: string): string[] => text.split(/\r?\n/).map((line) => line.slice(0, MAX_LINE_CHARS));

function inPnpmLock(text: string): string[] {
  const out: string[] = [];
  let entry: { readonly name: string; readonly version: string } | undefined;
  for (const line of linesOf(text)) {
    if (/^ {0,2}\S/.test(line)) {
      const key = /^ {2}['"]?\/?((?:@[^/@\s]{1,100}\/)?[^@/:'"\s(]{1,200})[@/](\d[^:'"(\s]{0,100})/.exec(line);
      entry = key === null ? undefined : { name: key[1] ?? '', version: key[2] ?? '' };
    }
    const url = /\btarball['"]?\s*:\s*['"]?([^'",}\s]+)/.exec(line)?.[1];
    if (url === undefined || entry === undefined || url.startsWith('file:')) continue;
    if (!isAddressOfPackage(url, entry.name, entry.version)) out.push(`${entry.name} ${entry.version} from ${url}`);
  }
  return out;
}

function inBunLock(text: string): string[] {
  return linesOf(text).flatMap((line) => {
    const [, key = '', name = '', version = '', url = ''] =
      /^\s*"([^"]+)"\s*:\s*\[\s*"((?:@[^/"]+\/)?[^@"]+)@(\d[^"]*)"\s*,\s*"([^"]*)"/.exec(line) ?? [];
    if (name === '') return [];
    if (key !== name && !key.endsWith(`/${name}`)) return [`${key} is ${name}`];
    return url === '' || isAddressOfPackage(url, name, version) ? [] : [`${name} ${version} from ${url}`];
  });
}

/** Yarn 1: the version of an entry and of its archive. lockfiles.ts compares the names. */
function inYarnLock(text: string): string[] {
  const out: string[] = [];
  let version = '';
  for (const line of linesOf(text)) {
    if (/^\S/.test(line)) version = '';
    version = /^\s+version:?\s+"?([^"\s]+)/.exec(line)?.[1] ?? version;
    const url = /^\s+resolved\s+"?([^"#\s]+)/.exec(line)?.[1];
    if (url === undefined || !/\/-\//.test(url) || version === '') continue;
    if (!decoded(url).includes(`-${version.replace(/\+.*/s, '')}`)) out.push(`version ${version} from ${url}`);
  }
  return out;
}

const ARCHIVE =
  /\b(?:url|file|path|name)\s*=\s*"(?:[^"]*\/)?([^"/]+\.(?:whl|tar\.gz|tar\.bz2|tar\.xz|zip|tgz|egg))(?:[#?][^"]*)?"/g;

function inPythonLock(text: string): string[] {
  return text
    .split(/^\[\[packages?\]\]/m)
    .slice(1)
    .flatMap((block) => {
      const name = /^name\s*=\s*"([^"]{1,200})"/m.exec(block)?.[1];
      const version = /^version\s*=\s*"([^"]{1,200})"/m.exec(block)?.[1];
      const isElsewhere = /^source\s*=\s*\{(?!\s*registry)|^type\s*=\s*"(?!legacy)|^(vcs|directory|archive)\s*=/m.test(
        block,
      );
      if (name === undefined || isElsewhere) return [];
      const files = [...block.matchAll(ARCHIVE)].map((match) => decoded(match[1] ?? ''));
      return files
        .filter((file) => !isOfPackage(file, name, version))
        .map((file) => `${name} ${version ?? ''} from ${file}`);
    });
}

function inComposerLock(text: string): string[] {
  const repository = (url: unknown): string | undefined =>
    /(?:github\.com|gitlab\.com|bitbucket\.org)(?:\/repos)?[/:]([^/]+\/[^/]+?)(?:\.git|\/zipball|\/tarball|$)/
      .exec(String(url ?? ''))?.[1]
      ?.toLowerCase();
  return listsOf(text, ['packages', 'packages-dev']).flatMap((one) => {
    const [name, dist, source] = [
      String(Reflect.get(one, 'name')),
      Reflect.get(one, 'dist'),
      Reflect.get(one, 'source'),
    ];
    if (typeof dist !== 'object' || dist === null) return [];
    const url = String(Reflect.get(dist, 'url') ?? '');
    const reference = String(Reflect.get(dist, 'reference') ?? '');
    const [of, from] = [
      repository(typeof source === 'object' && source !== null ? Reflect.get(source, 'url') : ''),
      repository(url),
    ];
    const isOther = of !== undefined && from !== undefined && of !== from;
    return isOther || (from !== undefined && reference !== '' && !url.includes(reference))
      ? [`${name} from ${url}`]
      : [];
  });
}

function inSwiftLock(text: string): string[] {
  return listsOf(text, ['pins']).flatMap((one) => {
    const [identity, location] = [Reflect.get(one, 'identity'), Reflect.get(one, 'location')];
    if (typeof identity !== 'string' || typeof location !== 'string') return [];
    const name = location
      .replace(/\/$/, '')
      .replace(/\.git$/, '')
      .replace(/^.*[/:]/, '');
    return name.toLowerCase() === identity.toLowerCase() ? [] : [`${identity} from ${location}`];
  });
}

/** The objects in some lists of a JSON file; none where it does not parse, which another judge reports. */
function listsOf(text: string, keys: readonly string[]): object[] {
  try {
    const root: unknown = JSON.parse(text);
    if (typeof root !== 'object' || root === null) return [];
    const lists = keys.map((key) => Reflect.get(root, key) as unknown).filter((list) => Array.isArray(list));
    return lists.flat().filter((one): one is object => typeof one === 'object' && one !== null);
  } catch {
    return [];
  }
}

function inPubLock(text: string, path: string): string[] {
  const leaves = readStructure(text, 'yaml', path)?.leaves ?? [];
  return leaves.flatMap(({ key, value }) => {
    const name = /^packages\.([^.]+)\.description\.name$/.exec(key)?.[1];
    return name === undefined || name === value ? [] : [`${name} is ${value}`];
  });
}

function inMixLock(text: string): string[] {
  return linesOf(text).flatMap((line) => {
    const [, name, hex] = /^\s*"([\w-]+)":\s*\{:hex,\s*:"?([\w-]+)/.exec(line) ?? [];
    return name === undefined || name === hex ? [] : [`${name} is ${hex}`];
  });
}

/** NuGet: another content of the same version. */
function contentUnderOneVersion(path: string, before: string, after: string): string[] {
  if (!/(^|\/)packages\.lock\.json$/i.test(path) || before === '') return [];
  const contents = (text: string): Map<string, string> => {
    const values = new Map((readStructure(text, 'json', path)?.leaves ?? []).map(({ key, value }) => [key, value]));
    const found = new Map<string, string>();
    for (const [key, value] of values) {
      const entry = /^(dependencies\..*)\.contentHash$/.exec(key)?.[1];
      if (entry !== undefined) found.set(`${entry} ${values.get(`${entry}.resolved`)}`, value);
    }
    return found;
  };
  const old = contents(before);
  return [...contents(after)]
    .filter(([key, hash]) => (old.get(key) ?? hash) !== hash)
    .map(([key]) => `${key}: other content for the same version`);
}

import { type JSONVisitor, visit } from 'jsonc-parser';
import type { JudgedText } from '../judges/rule.ts';
import { isAddressOfPackage, strangeArchives } from './lock-archives.ts';
import { movedRepositories, otherHashes } from './lock-entries.ts';

interface NpmPackage {
  readonly version?: unknown;
  readonly resolved?: unknown;
  readonly integrity?: unknown;
  readonly hasInstallScript?: unknown;
  readonly link?: unknown;
}

const REGISTRY = 'registry.npmjs.org';

/**
 * The host of a URL in lower case, with its scheme unless that is https; text that is not a URL is returned
 * unchanged.
 */
export function hostOf(url: string): string {
  const match = /^([a-z][a-z0-9+.-]{0,30}):(?:\/\/)?([^/?#]*)/i.exec(url);
  if (match === null) return url;
  const host = (match[2] ?? '').replace(/^.*@/, '').toLowerCase();
  return match[1]?.toLowerCase() === 'https' ? host : `${match[1]?.toLowerCase()}:${host}`;
}

/** A package of npm 6 and older; `version` may be a URL, `dependencies` holds nested packages. */
interface OldPackage extends NpmPackage {
  readonly dependencies?: unknown;
}
const DEEPEST = 100;

/** Both tables of a lock file, the packages of npm 6 under their folders; undefined when it does not parse. */
export function readNpmPackages(text: string | undefined): ReadonlyMap<string, NpmPackage> | undefined {
  if (text === undefined || text === '') return new Map();
  try {
    const root: unknown = JSON.parse(text);
    if (typeof root !== 'object' || root === null) return undefined;
    const found = new Map<string, NpmPackage>();
    for (const [name, value] of entriesOf(Reflect.get(root, 'packages'))) found.set(name, value as NpmPackage);
    const walk = (table: unknown, folder: string, depth: number): void => {
      if (depth > DEEPEST) throw new RangeError('too deep');
      for (const [name, value] of entriesOf(table)) {
        const one = value as OldPackage;
        const path = `${folder}node_modules/${name}`;
        const address = typeof one.version === 'string' && /^[a-z+]+:/i.test(one.version) ? one.version : undefined;
        found.set(`(v1) ${path}`, { ...one, ...(address === undefined ? {} : { resolved: address }) });
        walk(one.dependencies, `${path}/`, depth + 1);
      }
    };
    walk(Reflect.get(root, 'dependencies'), '', 0);
    return found;
  } catch {
    // Not JSON: the caller reports a lock file that does not parse.
    return undefined;
  }
}

function entriesOf(table: unknown): [string, object][] {
  if (typeof table !== 'object' || table === null) return [];
  return Object.entries(table).filter((one): one is [string, object] => typeof one[1] === 'object' && one[1] !== null);
}

/** The keys that appear twice in one object: JSON.parse takes the last one, another reader the first. */
export function keysTwice(text: string): string[] {
  const out: string[] = [];
  const open: Set<string>[] = [];
  const properties: JSONVisitor = {
    onObjectBegin: () => void open.push(new Set()),
    onObjectEnd: () => void open.pop(),
    onObjectProperty: (key) => {
      if (open.at(-1)?.has(key)) out.push(`${key} appears twice`);
      open.at(-1)?.add(key);
    },
  };
  try {
    visit(text, properties);
  } catch {
    // Nested deeper than the stack of this process: nobody's lock file is.
    return ['does not parse'];
  }
  return out;
}

/**
 * npm's lock files: new hosts, install scripts, links, and integrity that was removed, or changed for the same
 * version.
 */
export function judgeNpmLock(text: JudgedText): readonly string[] {
  const after = readNpmPackages(text.after);
  if (after === undefined) return ['does not parse'];
  const before = readNpmPackages(text.before) ?? new Map<string, NpmPackage>();
  const hosts = new Set([REGISTRY]);
  for (const one of before.values()) if (typeof one.resolved === 'string') hosts.add(hostOf(one.resolved));
  const out = keysTwice(text.after ?? '');
  for (const [name, one] of after) {
    const old = before.get(name);
    if (JSON.stringify(old) === JSON.stringify(one)) continue;
    const say = (what: string): void => void out.push(`${name || 'the project'}: ${what}`);
    const resolved = typeof one.resolved === 'string' ? one.resolved : '';
    if (one.link === true) {
      if (old?.link !== true) say('a link to a folder');
      continue;
    }
    if (resolved !== '' && !hosts.has(hostOf(resolved))) say(`from ${hostOf(resolved)}`);
    if (resolved.startsWith(`https://${REGISTRY}/`) && !sameName(name, resolved))
      say(`resolved to ${resolved.slice(0, 100)}`);
    else if (!isOfVersion(name, one, resolved)) say(`version ${one.version} from ${resolved.slice(0, 100)}`);
    if (one.hasInstallScript === true && old?.hasInstallScript !== true) say('now has an install script');
    if (typeof old?.integrity === 'string' && one.integrity === undefined) say('its integrity was removed');
    else if (old?.version === one.version && old?.integrity !== undefined && old.integrity !== one.integrity)
      say('other integrity for the same version');
    else if (old === undefined && resolved !== '' && one.integrity === undefined) say('has no integrity');
    else if (
      typeof one.integrity === 'string' &&
      !/^sha512-/.test(one.integrity) &&
      /^sha512-/.test(String(old?.integrity ?? 'sha512-'))
    )
      say('its integrity is weak');
  }
  return out;
}

/** Whether an archive of a registry has the version of its entry in its name; one of another server has its own names. */
function isOfVersion(path: string, { version }: NpmPackage, resolved: string): boolean {
  if (typeof version !== 'string' || !/^\d/.test(version) || !/\/-\//.test(resolved)) return true;
  const at = path.lastIndexOf('node_modules/');
  const name = at < 0 ? path : path.slice(at + 'node_modules/'.length);
  return name === '' || isAddressOfPackage(resolved, name, version);
}

function sameName(path: string, resolved: string): boolean {
  const at = path.lastIndexOf('node_modules/');
  const name = at < 0 ? path : path.slice(at + 'node_modules/'.length);
  return name === '' || decodeURIComponentSafe(resolved).includes(`/${name}/-/`);
}

function decodeURIComponentSafe(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // An invalid escape: compare the text unchanged.
    return text;
  }
}

const URL_IN_LINE = /\b(?:git\+|svn\+|hg\+)?(?:https?|ssh|git|file|link|portal):[^\s"',)#}]{1,300}/gi;
const HASH_IN_LINE = /\b(sha(1|256|384|512)[-:=]|integrity|checksum|shasum|hash(es)?\b|h1:|narHash|etag)/i;

/** Any line-based lock file: a host that the old file did not have, or a hash removed from an entry that stays. */
export function judgeYarnLock(text: JudgedText): readonly string[] {
  const before = text.before ?? '';
  const after = text.after ?? '';
  const hosts = new Set([...KNOWN_HOSTS, ...urlsOf(before).map(hostOf)]);
  const fresh = [...new Set(urlsOf(after).map(hostOf))].filter((host) => !hosts.has(host));
  const out = fresh.map((host) => `from ${host}`);
  const lost = /\.sum$/.test(text.path) || before === '' || after === '' ? 0 : hashesGone(before, after);
  if (lost > 0) out.push(`${lost} hashes were removed`);
  for (const one of yarnStrangers(before, after)) out.push(one);
  for (const one of strangeArchives(text.path, before, after)) out.push(one.slice(0, 160));
  if (before === '' || after === '') return out;
  return [...out, ...otherHashes(before, after), ...movedRepositories(before, after)];
}

const KNOWN_HOSTS = [
  REGISTRY,
  'registry.yarnpkg.com',
  'pypi.org',
  'files.pythonhosted.org',
  'rubygems.org',
  'index.crates.io',
  'jsr.io',
  'registry+https:github.com',
  'packagist.org',
  'repo.packagist.org',
  'api.github.com',
  'proxy.golang.org',
  'hex.pm',
  'repo.hex.pm',
  'pub.dev',
  'conda.anaconda.org',
  'repo.anaconda.com',
];

/** pnpm's note on a deprecated package: prose, unless it contains a URL or version that could be fetched. */
const DEPRECATED = /^[ \t]+deprecated:(?!.*(?:[{}]|tarball|resolution)).*$/gm;

function urlsOf(text: string): string[] {
  return text.replace(DEPRECATED, '').match(URL_IN_LINE) ?? [];
}

/** Entries of yarn's and pnpm's lock files for another package than the requested one, or for local code. */
function yarnStrangers(before: string, after: string): string[] {
  const strangers = (text: string): string[] => {
    const out: string[] = [];
    let asked: string[] = [];
    for (const line of text.split(/\r?\n/)) {
      const cut = line.slice(0, 4000);
      if (/^["@\w].*:\s*$/.test(cut)) asked = cut.replace(/:\s*$/, '').replaceAll('"', '').split(/,\s*/);
      const berry = /^\s+resolution:\s*"?((?:@[^/"]+\/)?[^@"/\s][^@"/]*)@([a-z]+:)?([^"]*)/.exec(cut);
      if (berry !== null) {
        const [, name = '', protocol = '', rest = ''] = berry;
        const builtin = /^(.*#)?(optional!builtin|~builtin)</.test(rest);
        if (!/^(npm:|workspace:|)$/.test(protocol) && !(protocol === 'patch:' && builtin))
          out.push(`${name} from ${protocol}${rest.slice(0, 60)}`);
        if (protocol === 'npm:' && !asked.some((one) => one.startsWith(`${name}@`) || one.includes(`@npm:${name}@`)))
          out.push(`${asked[0] ?? '?'} is ${name}`);
      }
      const url = /^\s+resolved\s+"?https:\/\/[^/]+\/([^"#]*)\/-\//.exec(cut)?.[1];
      // A registry may be below a path of its host: the package is the last part, with its scope.
      const name =
        url === undefined ? undefined : /(?<=^|\/)(?:@[^/]+\/)?[^/]+$/.exec(decodeURIComponentSafe(url))?.[0];
      const fits = (one: string): boolean =>
        name !== undefined && (one.startsWith(`${name}@`) || one.includes(`@npm:${name}@`));
      if (name !== undefined && !asked.some(fits)) out.push(`${asked[0] ?? '?'} is ${name}`);
    }
    return out;
  };
  if (!/\s(resolution:|resolved )/.test(after)) return [];
  const old = new Set(strangers(before));
  return [...new Set(strangers(after))].filter((one) => !old.has(one));
}

/** How many hashes were removed while as many packages stayed; for block formats, how many packages lost their last. */
function hashesGone(before: string, after: string): number {
  const count = (all: string, regex: RegExp): number =>
    all.split('\n').filter((line) => regex.test(line.slice(0, 2000))).length;
  if (/^\[\[packages?\]\]/m.test(after)) {
    const names = (all: string, hashed: boolean): string[] =>
      all
        .split(/^\[\[packages?\]\]/m)
        .slice(1)
        .filter((block) => HASH_IN_LINE.test(block) === hashed)
        .map((block) => /^[^\S\r\n\u2028\u2029]*name\s*=[^\S\r\n\u2028\u2029]*(\S.*)?$/m.exec(block)?.[1] ?? '');
    const had = new Set(names(before, true));
    const kept = new Set(names(after, true));
    return names(after, false).filter((name) => had.has(name) && !kept.has(name)).length;
  }
  const entry = /^\s*"?(version|resolution|resolved|name|url|source)\b/;
  return count(after, entry) >= count(before, entry) ? count(before, HASH_IN_LINE) - count(after, HASH_IN_LINE) : 0;
}

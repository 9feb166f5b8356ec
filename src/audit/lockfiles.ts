import type { JudgedText } from './rule.ts';

interface NpmPackage {
  readonly version?: unknown;
  readonly resolved?: unknown;
  readonly integrity?: unknown;
  readonly hasInstallScript?: unknown;
  readonly link?: unknown;
}

const REGISTRY = 'registry.npmjs.org';

/** The host of a URL in lower case, with its scheme unless that is https; what is no URL stands as it is. */
export function hostOf(url: string): string {
  const match = /^([a-z][a-z0-9+.-]{0,30}):(?:\/\/)?([^/?#]*)/i.exec(url);
  if (match === null) return url;
  const host = (match[2] ?? '').replace(/^.*@/, '').toLowerCase();
  return match[1]?.toLowerCase() === 'https' ? host : `${match[1]?.toLowerCase()}:${host}`;
}

function packagesOf(text: string | undefined): ReadonlyMap<string, NpmPackage> | undefined {
  if (text === undefined || text === '') return new Map();
  try {
    const root: unknown = JSON.parse(text);
    if (typeof root !== 'object' || root === null) return undefined;
    const table = Reflect.get(root, 'packages') ?? Reflect.get(root, 'dependencies') ?? {};
    if (typeof table !== 'object' || table === null) return undefined;
    return new Map(Object.entries(table).map(([name, value]) => [name, (value ?? {}) as NpmPackage]));
  } catch {
    // Not JSON: the caller reports a lock file that does not parse.
    return undefined;
  }
}

/** npm's lock files: new hosts, integrity that is gone, weaker or other for the same version, install scripts, links. */
export function judgeNpmLock(text: JudgedText): readonly string[] {
  const after = packagesOf(text.after);
  if (after === undefined) return ['does not parse'];
  const before = packagesOf(text.before) ?? new Map<string, NpmPackage>();
  const hosts = new Set([REGISTRY]);
  for (const one of before.values()) if (typeof one.resolved === 'string') hosts.add(hostOf(one.resolved));
  const out: string[] = [];
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
    if (one.hasInstallScript === true && old?.hasInstallScript !== true) say('now has an install script');
    if (typeof old?.integrity === 'string' && one.integrity === undefined) say('its integrity is gone');
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

function sameName(path: string, resolved: string): boolean {
  const at = path.lastIndexOf('node_modules/');
  const name = at < 0 ? path : path.slice(at + 'node_modules/'.length);
  return name === '' || decodeURIComponentSafe(resolved).includes(`/${name}/-/`);
}

function decodeURIComponentSafe(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A broken escape: compare the text as it stands.
    return text;
  }
}

const URL_IN_LINE = /\b(?:git\+|svn\+|hg\+)?(?:https?|ssh|git|file|link|portal):[^\s"',)#}]{1,300}/gi;
const HASH_IN_LINE = /\b(sha(1|256|384|512)[-:=]|integrity|checksum|shasum|hash(es)?\b|h1:|narHash|etag)/i;

/** Any line-based lock file: a host that the old file did not have, a hash that is gone with its line's fellow kept. */
export function judgeYarnLock(text: JudgedText): readonly string[] {
  const before = text.before ?? '';
  const after = text.after ?? '';
  const hosts = new Set([...KNOWN_HOSTS, ...urlsOf(before).map(hostOf)]);
  const fresh = [...new Set(urlsOf(after).map(hostOf))].filter((host) => !hosts.has(host));
  const hashes = (all: string): number =>
    all.split('\n').filter((line) => HASH_IN_LINE.test(line.slice(0, 2000))).length;
  const entries = (all: string): number =>
    all.split('\n').filter((line) => /^\s*"?(version|resolution|resolved|name|url|source)\b/.test(line)).length;
  const out = fresh.map((host) => `from ${host}`);
  if (
    text.before !== undefined &&
    text.after !== undefined &&
    hashes(after) < hashes(before) &&
    entries(after) >= entries(before)
  )
    out.push(`${hashes(before) - hashes(after)} hashes are gone`);
  return [...out, ...sameVersionOtherHash(before, after)];
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

function urlsOf(text: string): string[] {
  return text.match(URL_IN_LINE) ?? [];
}

/** Blocks of a lock file whose only difference is a hash. */
function sameVersionOtherHash(before: string, after: string): string[] {
  const blocks = (text: string): Map<string, string> => {
    const map = new Map<string, string>();
    for (const block of text.split(/\n\s*\n/)) {
      const lines = block.split('\n').map((line) => line.slice(0, 4000));
      const rest = lines
        .filter((line) => !HASH_IN_LINE.test(line))
        .join('\n')
        .replace(/#[0-9a-f]{40}/g, '');
      if (rest.trim() !== '') map.set(rest, block);
    }
    return map;
  };
  if (before === '' || before.length > 8 << 20) return [];
  const old = blocks(before);
  const out: string[] = [];
  for (const [rest, block] of blocks(after)) {
    const was = old.get(rest);
    if (was !== undefined && was !== block && HASH_IN_LINE.test(was))
      out.push(`other hash, same version: ${rest.trim().split('\n').slice(0, 2).join(' ').slice(0, 100)}`);
  }
  return out;
}

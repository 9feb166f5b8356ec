import { wholeLine } from '../formats/words.ts';
import type { JudgedText } from '../judges/rule.ts';
import { strangeArchives } from './lock-archives.ts';
import { keysTwice } from './lockfiles.ts';

/** Tables of the file that say nothing of a package; the hash is that of composer.json. */
const ABOUT =
  /^(_readme|content-hash|packages|packages-dev|aliases|minimum-stability|stability-flags|prefer-stable|prefer-lowest|platform|platform-dev|platform-overrides|plugin-api-version)$/;
/** What an entry repeats for readers, and what it requires. */
const DESCRIPTION = wholeLine(
  /name|version|version_normalized|require|require-dev|conflict|replace|provide|suggest|time|notification-url|license/,
  /authors|description|homepage|keywords|support|funding|abandoned|default-branch|source|dist|type|autoload/,
  /autoload-dev|bin|extra/,
);
/** Repositories that Packagist takes packages from. The reference of the archive is checked with its source. */
const FORGES = /^https:\/\/(api\.)?(github\.com|gitlab\.com|bitbucket\.org)\//;
const WITHIN = /^(?!.*(^|[\\/])\.\.([\\/]|$))(?![\\/~]|[a-z]+:)/i;

type Table = Readonly<Record<string, unknown>>;

interface Part {
  readonly type?: unknown;
  readonly url?: unknown;
  readonly reference?: unknown;
  readonly shasum?: unknown;
  readonly mirrors?: unknown;
}

interface Entry extends Table {
  readonly name?: unknown;
  readonly version?: unknown;
  readonly type?: unknown;
  readonly source?: unknown;
  readonly dist?: unknown;
  readonly extra?: unknown;
}

/**
 * What counts in a change of composer.lock: a package may be new or get a new version, from a repository that its archive
 * carries, as Packagist has it. A package that keeps its version keeps its commit, also where the version is a branch.
 */
export function judgeComposerLock({ path, before, after }: JudgedText): readonly string[] {
  if (after === undefined) return [];
  const [old, now] = [tablesOf(before ?? ''), tablesOf(after)];
  if (now === undefined) return ['does not parse'];
  const had = new Map(entriesOf(old ?? {}).map((one) => [nameOf(one), one]));
  const out = [...strangeArchives(path, before ?? '', after), ...keysTwice(after)];
  for (const key of Object.keys(now))
    if (!ABOUT.test(key) && JSON.stringify(now[key]) !== JSON.stringify(old?.[key])) out.push(key.slice(0, 100));
  const seen = new Set<string>();
  for (const entry of entriesOf(now)) {
    const name = nameOf(entry);
    if (seen.has(name)) out.push(`${name} appears twice`);
    seen.add(name);
    for (const one of strangeIn(entry, had.get(name))) out.push(`${name}: ${one}`.slice(0, 200));
  }
  return out;
}

function strangeIn(entry: Entry, old: Entry | undefined): string[] {
  if (old !== undefined && JSON.stringify(old) === JSON.stringify(entry)) return [];
  const isNew = (key: string): boolean => JSON.stringify(entry[key]) !== JSON.stringify(old?.[key]);
  const out = Object.keys(entry).filter((key) => !DESCRIPTION.test(key) && isNew(key));
  if (
    isNew('type') &&
    !/^(library|project|metapackage|[\w-]*bundle|symfony-pack)$/.test(asText(entry.type ?? 'library'))
  )
    out.push(`type ${asText(entry.type)}`);
  const [source, dist] = [partOf(entry.source), partOf(entry.dist)];
  const [oldSource, oldDist] = [partOf(old?.source), partOf(old?.dist)];
  if (old !== undefined && old.version === entry.version) {
    if (
      asText(source.reference) !== asText(oldSource.reference) ||
      asText(dist.reference) !== asText(oldDist.reference)
    )
      out.push('another commit, same version');
    if (asText(dist.shasum) !== asText(oldDist.shasum)) out.push('another checksum, same version');
  } else if (asText(oldDist.shasum) !== '' && asText(dist.shasum) === '') out.push('its checksum was removed');
  if (asText(oldSource.url) !== '' && asText(source.url) !== asText(oldSource.url))
    out.push(`now from ${asText(source.url) || 'nowhere'}`);
  if (old !== undefined && asText(oldDist.url) !== '' && asText(dist.url) !== '') {
    const [was, is] = [archiveOf(oldDist, old), archiveOf(dist, entry)];
    if (was !== is) out.push(`now from ${asText(dist.url)}`);
  }
  for (const part of [source, dist]) {
    const url = asText(part.url);
    const isKnown = FORGES.test(url) || placeOf(url) === placeOf(asText((part === source ? oldSource : oldDist).url));
    if (url !== '' && !isKnown) out.push(`from ${url}`);
    if (!/^(git|zip|tar)?$/.test(asText(part.type))) out.push(`type ${asText(part.type)}`);
    if (part.mirrors !== undefined && isNew(part === source ? 'source' : 'dist')) out.push('mirrors');
  }
  const isAgreed = asText(source.reference) === '' || asText(dist.reference) === '';
  if (!isAgreed && source.reference !== dist.reference) out.push('an archive of another commit');
  // Composer loads and links these files from the folder of the package.
  for (const key of ['autoload', 'autoload-dev', 'bin'])
    if (isNew(key) && leavesOf(entry[key]).some((leaf) => leaf !== '' && !WITHIN.test(leaf))) out.push(key);
  if (
    isNew('extra') &&
    /"(patches[\w-]*|class|composer-exit-on-patch-failure)":|\.\.|"\//.test(JSON.stringify(entry.extra))
  )
    out.push('extra');
  return out;
}

function tablesOf(text: string): Table | undefined {
  try {
    const root: unknown = text.trim() === '' ? {} : JSON.parse(text);
    return isObject(root) ? root : undefined;
  } catch {
    return undefined;
  }
}

function entriesOf(tables: Table): Entry[] {
  return ['packages', 'packages-dev'].flatMap((key) => {
    const list = tables[key];
    return Array.isArray(list) ? list.filter(isObject) : [];
  });
}

/** The texts of a value at any depth of arrays and objects that a reader can follow. */
function leavesOf(value: unknown, depth = 0): string[] {
  if (typeof value === 'string') return [value];
  if (depth > 10) return ['..'];
  return isObject(value) || Array.isArray(value) ? Object.values(value).flatMap((one) => leavesOf(one, depth + 1)) : [];
}

const isObject = (value: unknown): value is Table =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const partOf = (value: unknown): Part => (isObject(value) ? value : {});
const asText = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);
const nameOf = (entry: Entry): string => asText(entry.name).toLowerCase();
/** The address of an archive without its commit and version. */
const archiveOf = ({ url, reference }: Part, { version }: Entry): string =>
  [reference, version].map(asText).reduce((text, one) => (one === '' ? text : text.replaceAll(one, '*')), asText(url));
/** The scheme, host and first folder of an address. */
const placeOf = (url: string): string => /^[a-z+]+:\/\/[^/]*\/[^/]*/i.exec(url)?.[0] ?? url;

import type { Archive, Ecosystem, Hash, LockContent, Skipped } from '../ecosystem.ts';

/** A larger lock file is not of a project that anybody works on. */
const MAX_ARCHIVES = 30_000;
/** Of a package, in messages. */
const MAX_NAME_CHARACTERS = 120;
const DIGITS = { sha256: 64, sha384: 96, sha512: 128, 'go-mod': 64, 'go-zip': 64 } as const;
/** Every component is a plain name: no `.`, no `..`, nothing that begins with a dash. */
const PATH = /^(?:[A-Za-z0-9@_+~!][A-Za-z0-9@._+~!-]*\/)*[A-Za-z0-9@_+~!][A-Za-z0-9@._+~!-]*$/;

/**
 * The archives of lock files that may be fetched: over https from the ecosystem's own hosts, with a strong hash, to a path
 * inside the cache. Two archives of one path are both left out.
 *
 * @throws {Error} with the reason for lock files of too many archives
 */
export function checkArchives(ecosystem: Pick<Ecosystem, 'hosts'>, contents: readonly LockContent[]): LockContent {
  const byPath = new Map<string, Archive>();
  const skipped: Skipped[] = contents.flatMap((content) => content.skipped);
  const named = contents.flatMap((content) => content.archives);
  const ambiguous = new Set<string>();
  for (const archive of named.map((one) => ({ ...one, name: shownName(one.name) }))) {
    const why = refusal(ecosystem, archive);
    const known = byPath.get(archive.path);
    if (why !== undefined) skipped.push({ name: archive.name, why });
    else if (known !== undefined && !isSame(known, archive)) ambiguous.add(archive.path);
    else if (known !== undefined) byPath.set(archive.path, joined(known, archive));
    else if (byPath.size >= MAX_ARCHIVES) throw new Error(`more than ${MAX_ARCHIVES} files are named`);
    else byPath.set(archive.path, archive);
  }
  for (const path of ambiguous) {
    skipped.push({ name: byPath.get(path)?.name ?? path, why: 'two hashes for one package' });
    byPath.delete(path);
  }
  const kept = [...byPath.values()].flatMap((archive) => withKeptParts(archive, byPath));
  const archives = kept.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { archives, skipped: skipped.map(({ name, why }) => ({ name: shownName(name), why })) };
}

/** A lock file chooses its names: in a message one is short, and in one line. */
const shownName = (name: string): string =>
  name.slice(0, MAX_NAME_CHARACTERS).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?');

const hashesOf = ({ hash, alsoHashes = [] }: Archive): readonly Hash[] => [hash, ...alsoHashes];

/** Hashes of two functions may be of the same bytes. */
const isSame = (one: Archive, other: Archive): boolean =>
  hashesOf(one).every(({ name, hex }) => hashesOf(other).every((also) => also.name !== name || also.hex === hex));

/** One archive that two entries name: with the hashes of both, or made from what both are made from. */
function joined(one: Archive, other: Archive): Archive {
  if (one.madeFrom !== undefined)
    return { ...one, madeFrom: [...new Set([...one.madeFrom, ...(other.madeFrom ?? [])])] };
  const more = hashesOf(other).filter(({ name }) => hashesOf(one).every((known) => known.name !== name));
  return more.length === 0 ? one : { ...one, alsoHashes: [...(one.alsoHashes ?? []), ...more] };
}

/** Nothing is made from an archive that is not in the cache. */
function withKeptParts(archive: Archive, byPath: ReadonlyMap<string, Archive>): Archive[] {
  if (archive.madeFrom === undefined) return [archive];
  const madeFrom = archive.madeFrom.filter((path) => byPath.get(path)?.madeFrom === undefined && byPath.has(path));
  return madeFrom.length === 0 ? [] : [{ ...archive, madeFrom }];
}

function refusal(
  { hosts }: Pick<Ecosystem, 'hosts'>,
  { url, text, madeFrom, hash, path }: Archive,
): string | undefined {
  const why = text === undefined && madeFrom === undefined ? refusedUrl(hosts, url) : undefined;
  if (why !== undefined) return why;
  if (hash.hex.length !== DIGITS[hash.name] || !/^[0-9a-f]+$/.test(hash.hex)) return 'without a hash';
  if (!PATH.test(path) || path.length > 500) return 'with a name that is not a plain file name';
  return undefined;
}

function refusedUrl(hosts: readonly string[], url: string): string | undefined {
  if (!URL.canParse(url)) return 'no address of a registry';
  const { protocol, hostname, port, username, password, search } = new URL(url);
  if (protocol !== 'https:' || port !== '' || !hosts.includes(hostname)) return 'from another host';
  if (username !== '' || password !== '' || search !== '') return 'from an address with a login or a query';
  return undefined;
}

/** The skipped entries as one line for each reason: '3 packages are not in the cache: from another host (a, b, c)'. */
export function skippedLines(skipped: readonly Skipped[]): string[] {
  const byReason = new Map<string, Set<string>>();
  for (const { name, why } of skipped) byReason.set(why, (byReason.get(why) ?? new Set()).add(name));
  return [...byReason].map(([why, names]) => {
    const shown = [...names].slice(0, 3).join(', ');
    const more = names.size > 3 ? ', …' : '';
    const count = names.size === 1 ? '1 package is' : `${names.size} packages are`;
    return `${count} not in the cache: ${why} (${shown}${more})`;
  });
}

import { anyOf, oneOf, pattern } from '../formats/words.ts';

/**
 * Lock files of every kind, read by their lines: indentation (JSON, YAML), a blank line (TOML, yarn) or one line (go.sum,
 * mix.lock) makes an entry. The identity of an entry is kept, and hashes and URLs of the same entry are compared.
 */

const FIELD_NAMES = oneOf`
  integrity checksums? hash(es)? sha\d* sha\d+sum shasums? content-?hash revision rev ref resolved nar-?hash
  digest value algorithm git-tree-sha1 commit jar sources md5 etag reference dist url
`;

/** A checksum or commit, in the forms that package managers write. */
const HASH = anyOf(
  /\bh1:[A-Za-z0-9+/=]{1,100}|\b(?:sha(?:1|224|256|384|512)|md5)[-:=][A-Za-z0-9+/=_-]{6,200}/g,
  /\bb[0-9]:[0-9a-f]{32,128}|\b[0-9a-f]{32,128}\b|\b[0-9A-F]{32,128}\b|(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{43}=/g,
  /(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{86}==/g,
);
const URL_IN_LINE = /\b(?:[a-z]{2,5}\+)?(?:https?|ssh|git):\/\/[^\s"',;<>(){}]{1,300}/gi;
/** Words that describe a hash, not the entry that it belongs to. */
const FIELD_WORDS = pattern('gi')`\b(${FIELD_NAMES})\b`;
const LONGEST_LINE = 4000;
const MOST_SIBLINGS = 60;
/** A longer lock file is reported as one that cannot be compared. */
const MOST_LINES = 400_000;

interface Row {
  readonly text: string;
  readonly bare: string;
  readonly indent: number;
  /** Index of the parent line, or -1. */
  readonly parent: number;
  /** Number of the block between blank lines, for lines at the margin. */
  readonly block: number;
}

/** Every line with a hash or URL matches this: most lines have neither. */
const MAY_HOLD_HASH = /:\/\/|\bh1:|\b(?:sha|md5)|[0-9a-zA-Z+/]{32}|\/HASH/i;

/** A hash or URL is blanked, with the cache key that yarn writes before it; the rest identifies the entry. */
const blank = (text: string): string =>
  MAY_HOLD_HASH.test(text)
    ? text
        .replace(URL_IN_LINE, 'URL')
        .replace(HASH, 'HASH')
        .replace(/\b\w{1,6}\/HASH/g, 'HASH')
    : text;
/** Lines that name an entry: if one has a version, no other line identifies the entry. */
const NAMING = /^(-\s+)?["']?(name|version|resolution|identity)["']?\s*[:= ]/i;
const VERSION = /^(-\s+)?["']?version["']?\s*[:= ]/i;

/** The rows of the last texts: of one change both sides are asked for twice. */
const MAX_KEPT = 2;
const kept = new Map<string, readonly Row[]>();

function rowsOf(text: string): readonly Row[] {
  const known = kept.get(text);
  if (known !== undefined) return known;
  if (kept.size >= MAX_KEPT) kept.delete(kept.keys().next().value as string);
  const made = readRows(text);
  kept.set(text, made);
  return made;
}

function readRows(text: string): readonly Row[] {
  const rows: Row[] = [];
  const open: number[] = [];
  let block = 0;
  for (const line of text.split(/\r?\n/)) {
    const cut = line.slice(0, LONGEST_LINE);
    const trimmed = cut.trim();
    if (trimmed === '') {
      block += 1;
      open.length = 0;
      continue;
    }
    // A dash of YAML belongs to the indentation of what follows it.
    const indent = cut.length - cut.replace(/^[\s]*(?:-\s+)?/, '').length;
    while (open.length > 0 && (rows[open.at(-1) as number]?.indent ?? 0) >= indent) open.pop();
    rows.push({ text: trimmed, bare: blank(trimmed), indent, parent: open.at(-1) ?? -1, block });
    open.push(rows.length - 1);
  }
  return rows;
}

/** Returns a function that gives the identity of a line's entry; lines of one entry share the work. */
function identities(rows: readonly Row[]): (at: number) => string {
  const children = new Map<string, number[]>();
  const groupOf = (row: Row): string => (row.parent < 0 ? `block ${row.block}` : `under ${row.parent}`);
  for (const [at, row] of rows.entries()) {
    const key = groupOf(row);
    const list = children.get(key);
    if (list === undefined) children.set(key, [at]);
    else list.push(at);
  }
  const scalars = new Map<string, string>();
  const siblings = (row: Row): string => {
    const key = groupOf(row);
    const had = scalars.get(key);
    if (had !== undefined) return had;
    const list = children.get(key) ?? [];
    const lines = list.map((at) => rows[at]?.bare ?? '').filter((bare) => !/[[{(:]$/.test(bare));
    const named = lines.some((bare) => VERSION.test(bare)) ? lines.filter((bare) => NAMING.test(bare)) : lines;
    const made = list.length > MOST_SIBLINGS ? '' : named.join('\n');
    scalars.set(key, made);
    return made;
  };
  const above = new Map<number, string>();
  const ancestors = (at: number): string => {
    if (at < 0) return '';
    const had = above.get(at);
    if (had !== undefined) return had;
    const row = rows[at] as Row;
    // Deep text costs no more than this: nobody's lock file has more levels.
    const made = `${ancestors(row.parent).slice(-400)}\n${row.bare.slice(0, 200)}`;
    above.set(at, made);
    return made;
  };
  /** In TOML a package is a block at the margin: its lines belong to its name and version. */
  const names = new Map<number, string>();
  const nameOfBlock = ({ block }: Row): string => {
    const had = names.get(block);
    if (had !== undefined) return had;
    const lines = (children.get(`block ${block}`) ?? []).map((at) => rows[at]?.bare ?? '');
    const made = lines.some((bare) => VERSION.test(bare)) ? lines.filter((bare) => NAMING.test(bare)).join('\n') : '';
    names.set(block, made);
    return made;
  };
  return (at) => {
    const row = rows[at] as Row;
    const own = row.bare.replace(/HASH|URL/g, '').replace(FIELD_WORDS, '');
    const alone = `${nameOfBlock(row)}\n${ancestors(row.parent)}\n${row.bare}`;
    if (/\d\.\d|\/|[\w.-]{5}/.test(own)) return alone;
    const parent = rows[row.parent];
    const upper = parent === undefined ? '' : siblings(parent);
    return `${ancestors(row.parent)}\n${siblings(row)}\n${upper}`;
  };
}

/** Entries whose name and version stay and whose hash does not: another content under the same label. */
export function otherHashes(before: string, after: string): string[] {
  if (linesIn(before) > MOST_LINES || linesIn(after) > MOST_LINES) return ['too many lines to compare'];
  // What had no hash cannot have another one now.
  if (!MAY_HOLD_HASH.test(before) || !MAY_HOLD_HASH.test(after)) return [];
  const hashes = (text: string): Map<string, { readonly all: string[]; readonly line: string }> => {
    const found = new Map<string, { readonly all: string[]; readonly line: string }>();
    const rows = rowsOf(text);
    const identity = identities(rows);
    for (const [at, row] of rows.entries()) {
      if (row.text === row.bare) continue;
      const tokens = row.text.replace(URL_IN_LINE, hashOfUrl).match(HASH);
      if (tokens === null) continue;
      const key = identity(at);
      const one = found.get(key);
      if (one === undefined) found.set(key, { all: [...tokens], line: row.text });
      else for (const token of tokens) one.all.push(token);
    }
    return found;
  };
  const old = hashes(before);
  const out: string[] = [];
  for (const [key, { all, line }] of hashes(after)) {
    const was = old.get(key);
    if (was === undefined) continue;
    const fresh = all.filter((hash) => !was.all.includes(hash));
    if (fresh.length > 0) out.push(`other hash, same version: ${line.slice(0, 100)}`);
  }
  return out;
}

/** Of an address only the hash after `#` is compared as one. */
const hashOfUrl = (url: string): string => /#.*/s.exec(url)?.[0] ?? '';

function linesIn(text: string): number {
  let count = 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/** The package of an entry that is one line, as in mix.lock; not the name of a field. */
function keyOfLine(text: string): string | undefined {
  const key = /^"?([\w@./-]{1,200})"?\s*[:=]\s*[[{(]/.exec(text)?.[1];
  return key === undefined || key.replace(FIELD_WORDS, '') === '' || key.toLowerCase() === 'source' ? undefined : key;
}

/** Packages that keep their name and come from another repository, on a host that was known too. */
export function movedRepositories(before: string, after: string): string[] {
  if (linesIn(before) > MOST_LINES || linesIn(after) > MOST_LINES) return [];
  if (!before.includes('://') || !after.includes('://')) return [];
  const places = (text: string): Map<string, Set<string>> => {
    const found = new Map<string, Set<string>>();
    const rows = rowsOf(text);
    const groups = new Map<string, string>();
    const groupOf = (row: Row): string => (row.parent < 0 ? `block ${row.block}` : `under ${row.parent}`);
    for (const row of rows) {
      const name = /^[-\s]*"?(?:name|identity)"?\s*[:=]\s*"?([^",]{1,200})/.exec(row.text)?.[1];
      if (name !== undefined) groups.set(groupOf(row), name);
    }
    for (const row of rows) {
      if (!row.text.includes('://')) continue;
      for (const [url] of row.text.matchAll(URL_IN_LINE)) {
        const place = /^[a-z+]*:\/\/(?:[^@/]*@)?([^/]+(?:\/repos)?\/[^/]+\/[^/#?]+)/i.exec(url)?.[1];
        if (place === undefined || !/github|gitlab|bitbucket|codeberg|sr\.ht/i.test(place)) continue;
        const parent = rows[row.parent];
        const name =
          keyOfLine(row.text) ?? groups.get(groupOf(row)) ?? (parent && groups.get(groupOf(parent))) ?? parent?.bare;
        if (name === undefined) continue;
        const key = name.toLowerCase();
        const set = found.get(key) ?? new Set();
        found.set(key, set.add(place.replace(/\.git$/, '').toLowerCase()));
      }
    }
    return found;
  };
  const old = places(before);
  const out: string[] = [];
  for (const [name, now] of places(after)) {
    const was = old.get(name);
    const fresh = was === undefined ? [] : [...now].filter((place) => !was.has(place));
    if (fresh[0] !== undefined) out.push(`${name.slice(0, 80)} now from ${fresh[0]}`);
  }
  return out;
}

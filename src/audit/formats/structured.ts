import { type Node, type ParseError, parseTree } from 'jsonc-parser';
import { parse as parseToml } from 'smol-toml';
import { parseAllDocuments } from 'yaml';
import { jsonOfJson5 } from './json5.ts';
import { leavesOfProperties } from './properties.ts';
import type { Format } from './rule.ts';
import { leavesOfXml } from './xml.ts';
import { repeatedKeys } from './yaml-keys.ts';

/** One leaf of a structured file: `a.b[].c`, array positions left out, value as text. */
export interface Leaf {
  readonly key: string;
  readonly value: string;
}

export interface Structure {
  readonly leaves: readonly Leaf[];
  /** Keys that appear twice in one object: parsers differ on which counts. */
  readonly duplicates: readonly string[];
  /** YAML tags that no schema knows. */
  readonly tags: readonly string[];
}

/** A larger file is not parsed: it is reported as one that cannot be judged. */
const LARGEST = 4 << 20;
const DEEPEST = 200;
const MOST_LEAVES = 200_000;

/** Reads structured text. Returns undefined when it does not parse, is too large or too deep; never throws. */
export function readStructure(text: string, format: Format, path: string): Structure | undefined {
  if (text.length > LARGEST) return undefined;
  const bare = text.startsWith('\ufeff') ? text.slice(1) : text;
  if (bare.trim() === '') return { leaves: [], duplicates: [], tags: [] };
  try {
    const kind = format === 'auto' ? formatOf(path, bare) : format;
    if (kind === 'json' || kind === 'jsonc') {
      const json = /\.json5$/i.test(path) ? jsonOfJson5(bare) : bare;
      return json === undefined ? undefined : fromJson(json, kind === 'jsonc');
    }
    if (kind === 'yaml') return fromYaml(bare);
    if (kind === 'toml') return fromValue(parseToml(bare));
    if (kind === 'xml') return fromLeaves(leavesOfXml(bare));
    if (kind === 'properties') return fromLeaves(leavesOfProperties(bare));
    return fromIni(bare);
  } catch {
    // Any exception of a parser, a RangeError for deep nesting included, means that the text cannot be judged.
    return undefined;
  }
}

const fromLeaves = (leaves: readonly Leaf[] | undefined): Structure | undefined =>
  leaves === undefined ? undefined : { leaves, duplicates: [], tags: [] };

function formatOf(path: string, text: string): Format {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  if (/\.(json5?|jsonc|code-workspace|webmanifest|map)$/.test(name)) return 'jsonc';
  if (/\.(ya?ml|lock\.yml)$/.test(name)) return 'yaml';
  if (/\.toml$/.test(name)) return 'toml';
  if (/\.(ini|cfg|conf|properties)$|^\.(npm|pnpm)rc$/.test(name)) return 'ini';
  // Without an extension the first line that is not a comment decides: a JSON list further down looks like a section.
  if (/^(?:[^\S\r\n]*(?:[#;][^\r\n]*)?[\r\n])*[^\S\r\n]*\[[\w.:/ -]+\][^\S\r\n]*(?:[\r\n]|$)/.test(text)) return 'ini';
  return /^[{[]/.test(withoutComments(text)) ? 'jsonc' : 'yaml';
}

/** The text after leading blanks and JavaScript comments. */
function withoutComments(text: string): string {
  for (let at = 0; ; ) {
    at += text.slice(at).search(/\S|$/);
    const long = text.startsWith('/*', at);
    if (!long && !text.startsWith('//', at)) return text.slice(at);
    const end = long ? text.indexOf('*/', at + 2) + 1 : text.slice(at).search(/[\r\n\u2028\u2029]|$/) + at;
    if (end <= at) return '';
    at = end + 1;
  }
}

function fromJson(text: string, comments: boolean): Structure | undefined {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: comments, disallowComments: !comments });
  if (errors.length > 0 || root === undefined) return undefined;
  const out = collector();
  walkNode(root, '', 0, out);
  return out;
}

type Out = { leaves: Leaf[]; duplicates: string[]; tags: string[] };
const collector = (): Out => ({ leaves: [], duplicates: [], tags: [] });

function add(out: Out, key: string, value: string): void {
  if (out.leaves.length >= MOST_LEAVES) throw new RangeError('too many keys');
  out.leaves.push({ key, value });
}

function walkNode(node: Node, key: string, depth: number, out: Out): void {
  if (depth > DEEPEST) throw new RangeError('too deep');
  if (node.type === 'object') {
    const seen = new Set<string>();
    if (node.children?.length === 0) add(out, key, '{}');
    for (const property of node.children ?? []) {
      const name = String(property.children?.[0]?.value ?? '');
      const inner = property.children?.[1];
      if (seen.has(name)) out.duplicates.push(join(key, name));
      seen.add(name);
      if (inner !== undefined) walkNode(inner, join(key, name), depth + 1, out);
    }
  } else if (node.type === 'array') {
    if (node.children?.length === 0) add(out, key, '[]');
    for (const child of node.children ?? []) walkNode(child, `${key}[]`, depth + 1, out);
  } else {
    add(out, key, String(node.value));
  }
}

const join = (key: string, name: string): string => (key === '' ? name : `${key}.${name}`);

function fromValue(value: unknown): Structure {
  const out = collector();
  walkValue(value, '', 0, out);
  return out;
}

function walkValue(value: unknown, key: string, depth: number, out: Out): void {
  if (depth > DEEPEST) throw new RangeError('too deep');
  if (Array.isArray(value)) {
    if (value.length === 0) add(out, key, '[]');
    for (const item of value) walkValue(item, `${key}[]`, depth + 1, out);
  } else if (value instanceof Map) {
    if (value.size === 0) add(out, key, '{}');
    for (const [name, item] of value) walkValue(item, join(key, String(name)), depth + 1, out);
  } else if (typeof value === 'object' && value !== null && !(value instanceof Date)) {
    const entries = Object.entries(value);
    if (entries.length === 0) add(out, key, '{}');
    for (const [name, item] of entries) walkValue(item, join(key, name), depth + 1, out);
  } else {
    add(out, key, String(value));
  }
}

function fromYaml(text: string): Structure | undefined {
  const out = collector();
  // A lone CR ends a line of YAML; this parser takes quadratic time for them.
  const lines = text.replace(/\r(?!\n)/g, '\n');
  for (const document of parseAllDocuments(lines, { uniqueKeys: false, merge: true, logLevel: 'error' })) {
    if (document.errors.length > 0) return undefined;
    for (const warning of document.warnings)
      if (warning.code === 'TAG_RESOLVE_FAILED') out.tags.push(warning.message.split('\n')[0]?.slice(0, 120) ?? '');
    for (const key of repeatedKeys(document)) out.duplicates.push(key);
    const value: unknown = document.toJS({ mapAsMap: true, maxAliasCount: 200 });
    walkValue(value, '', 0, out);
  }
  return out;
}

/**
 * INI as most tools read it: sections, `key = value` or `key: value`, lines that are indented further than their key
 * continue its value. A continuation that looks like a key counts as one too: some tools ignore indentation.
 */
function fromIni(text: string): Structure {
  const out = collector();
  let section = '';
  let last: { key: string; value: string; indent: number } | undefined;
  const flush = (): void => {
    if (last !== undefined) add(out, last.key, last.value);
    last = undefined;
  };
  for (const line of text.split(/\r\n|\r|\n/)) {
    const trimmed = line.trim();
    if (trimmed === '' || /^[#;!]/.test(trimmed)) continue;
    const header = /^\[([^\]]*)\]/.exec(trimmed);
    const indent = line.search(/\S/);
    const at = trimmed.search(/[=:]/);
    const key = join(section, unquote(at < 0 ? trimmed : trimmed.slice(0, at)));
    const value = at < 0 ? 'true' : unquote(trimmed.slice(at + 1));
    if (header !== null) {
      flush();
      section = (header[1] ?? '').trim();
    } else if (last !== undefined && indent > last.indent) {
      last.value += `\n${trimmed}`;
      if (/^[A-Za-z_][\w.-]*\s*=(?!=)/.test(trimmed)) add(out, key, value);
    } else {
      flush();
      last = { key, value, indent };
    }
  }
  flush();
  return out;
}

function unquote(text: string): string {
  const trimmed = text.trim();
  if (!/^".*"$/s.test(trimmed)) return trimmed.replace(/^'(.*)'$/s, '$1');
  try {
    return String(JSON.parse(trimmed));
  } catch {
    // Not JSON inside the quotes: npm's ini keeps such text unchanged.
    return trimmed.slice(1, -1);
  }
}

/** The leaves of `after` that `before` does not have, counting repetitions. */
export function newLeaves(before: readonly Leaf[], after: readonly Leaf[]): Leaf[] {
  const had = new Map<string, number>();
  for (const leaf of before) had.set(idOf(leaf), (had.get(idOf(leaf)) ?? 0) + 1);
  return after.filter((leaf) => {
    const left = had.get(idOf(leaf)) ?? 0;
    if (left > 0) had.set(idOf(leaf), left - 1);
    return left === 0;
  });
}

const idOf = (leaf: Leaf): string => `${leaf.key}\0${leaf.value}`;

import { type Node, type ParseError, parseTree } from 'jsonc-parser';
import { parse as parseToml } from 'smol-toml';
import { nameOfPath } from '../../core/text/path.ts';
import { countJson, countToml, MAX_LEAVES, MAX_NESTING, MAX_STRUCTURED_CHARS, OverBudget } from './budget.ts';
import type { Leaf } from './leaf.ts';
import { leavesOfControlFields } from './parsers/control-fields.ts';
import { leavesOfGoMod } from './parsers/go-mod.ts';
import { jsonOfJson5 } from './parsers/json5.ts';
import { leavesOfProperties } from './parsers/properties.ts';
import { leavesOfStarlark } from './parsers/starlark.ts';
import { leavesOfXml } from './parsers/xml.ts';
import { readYaml } from './parsers/yaml.ts';

/** How structured text is read: `auto` goes by the file's extension. */
export type Format =
  | 'json'
  | 'jsonc'
  | 'yaml'
  | 'toml'
  | 'ini'
  | 'xml'
  | 'properties'
  | 'go-mod'
  | 'control-fields'
  | 'starlark'
  | 'auto';

export interface Structure {
  readonly leaves: readonly Leaf[];
  /** Keys that appear twice in one object: parsers differ on which counts. */
  readonly duplicates: readonly string[];
  /** YAML tags that no schema knows. */
  readonly tags: readonly string[];
}

/** What reading a text gave: its structure, or why there is none. */
type Read = Structure | 'does not parse' | 'too much to judge';

/** So many results are kept: several rules ask for the two texts of one change, in one or two formats. */
const MAX_KEPT = 6;
/** By kind and text. */
const kept = new Map<string, Map<string, Read>>();
let keptCount = 0;
/** The last texts that were too much to judge. */
const tooMuch: string[] = [];

/**
 * Reads structured text; each text is parsed once for all rules. Undefined when it does not parse, or holds more than the
 * budget (budget.ts) allows: {@link unreadReason} tells which. Never throws.
 */
export function readStructure(text: string, format: Format, path: string): Structure | undefined {
  const read = readOnce(text, format, path);
  return typeof read === 'string' ? undefined : read;
}

/** Why {@link readStructure} gives nothing for a text; undefined where it gives its structure. */
export function unreadReason(text: string, format: Format, path: string): string | undefined {
  const read = readOnce(text, format, path);
  return typeof read === 'string' ? read : undefined;
}

/** Whether the structure of the text was asked for a moment ago, and is too much to judge. */
export function wasTooMuch(text: string): boolean {
  return tooMuch.includes(text);
}

function readOnce(text: string, format: Format, path: string): Read {
  if (text.length > MAX_STRUCTURED_CHARS) return remember('', text, () => 'too much to judge');
  const kind = format === 'auto' ? formatOf(path, withoutMark(text)) : format;
  const isJson5 = (kind === 'json' || kind === 'jsonc') && /\.json5$/i.test(path);
  return remember(isJson5 ? `${kind} json5` : kind, text, () => parse(withoutMark(text), kind, isJson5));
}

function remember(key: string, text: string, read: () => Read): Read {
  const texts = kept.get(key) ?? new Map<string, Read>();
  const known = texts.get(text);
  if (known !== undefined) return known;
  if (keptCount >= MAX_KEPT) {
    kept.clear();
    keptCount = 0;
  }
  const made = read();
  if (made === 'too much to judge' && tooMuch.push(text) > 2) tooMuch.shift();
  kept.set(key, (kept.get(key) ?? new Map<string, Read>()).set(text, made));
  keptCount += 1;
  return made;
}

const withoutMark = (text: string): string => (text.startsWith('\ufeff') ? text.slice(1) : text);

function parse(bare: string, kind: Exclude<Format, 'auto'>, isJson5: boolean): Read {
  if (bare.trim() === '') return { leaves: [], duplicates: [], tags: [] };
  try {
    return parserOf(kind, isJson5)(bare) ?? 'does not parse';
  } catch (error) {
    // Any other exception of a parser means that the text cannot be judged.
    return error instanceof OverBudget ? 'too much to judge' : 'does not parse';
  }
}

function parserOf(kind: Exclude<Format, 'auto'>, isJson5: boolean): (text: string) => Structure | undefined {
  switch (kind) {
    case 'json':
    case 'jsonc':
      return (text) => {
        const json = isJson5 ? jsonOfJson5(text) : text;
        return json === undefined ? undefined : fromJson(json, kind === 'jsonc');
      };
    case 'yaml':
      return fromYaml;
    case 'toml':
      return (text) => {
        countToml(text);
        return fromValue(parseToml(text, { maxDepth: MAX_NESTING }));
      };
    case 'xml':
      return (text) => fromLeaves(leavesOfXml(text));
    case 'properties':
      return (text) => fromLeaves(leavesOfProperties(text));
    case 'go-mod':
      return (text) => fromLeaves(leavesOfGoMod(text));
    case 'control-fields':
      return (text) => fromLeaves(leavesOfControlFields(text));
    case 'starlark':
      return (text) => fromLeaves(leavesOfStarlark(text));
    case 'ini':
      return fromIni;
  }
}

const fromLeaves = (leaves: readonly Leaf[] | undefined): Structure | undefined =>
  leaves === undefined ? undefined : { leaves, duplicates: [], tags: [] };

/** How a text is read by its name, or by its beginning where the name says nothing. */
export function formatOf(path: string, text: string): Exclude<Format, 'auto'> {
  const name = nameOfPath(path).toLowerCase();
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
  countJson(text);
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
  if (out.leaves.length >= MAX_LEAVES) throw new OverBudget();
  out.leaves.push({ key, value });
}

function walkNode(node: Node, key: string, depth: number, out: Out): void {
  if (depth > MAX_NESTING) throw new OverBudget();
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
  if (depth > MAX_NESTING) throw new OverBudget();
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
  const documents = readYaml(text);
  if (documents === undefined) return undefined;
  const out = collector();
  for (const tag of documents.tags) out.tags.push(tag);
  for (const key of documents.repeated) out.duplicates.push(key);
  for (const value of documents.values) walkValue(value, '', 0, out);
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

import { lazy } from '../formats/lazy.ts';
import type { Leaf } from '../formats/leaf.ts';
import type { Format } from '../formats/structured.ts';

/** A path or pattern within the project: no `..`, no root, no home, no variable, no address. */
const WITHIN = /(?!.*(?:^|\/|!)\.\.(?:\/|$))(?![/~])[\w@.*?!{},()[\]+/ ^=-]*/.source;

/** What a value may be to count as plain data, by a name that says what the key holds. */
const VALUES = {
  /** A switch, a level or a number, with its unit. */
  switch:
    /^(?:true|false|null|on|off|yes|no|auto|none|always|never|all|error|errors|warn|warning|info|ignore|[-+]?\d[\d._]*\s?(?:[a-z]{0,12}|%))$/i,
  /** One name, number or version. It may be the name of a module, so the key must not load one. */
  word: /^[\w@+][\w.@+:-]*$/,
  /** Names with blanks and commas between them. Same limit. */
  words: /^(?!.*\.\.|[\s\S]*(?:^|[\s,])-[a-z])[\w@.+:*,;=<>!~^\s-]*$/i,
  version: /^[\w\s.*+~^<>=!,|&-]*$/,
  /** Text for a reader, on one or more lines. It names no program, and no tool expands it. */
  text: /^(?!\s*(?:[./~!|@$`%-]|(?:file|attr):))(?:(?!`|\$[({]|\{\{|\{%|<%|%\()[\s\S])*$/i,
  /** Files and folders of the project that are checked, packed or skipped: nothing in them is run for it. */
  glob: new RegExp(`^${WITHIN}$`),
  /** The same, one or more on a line or separated by commas. */
  globs:
    /^(?![\s\S]*(?:^|[/!\s])\.\.(?:[/\s]|$))(?![/~])[\w@.*?!{},()[\]+/ ^=-]*(?:[^\S ](?![/~])[\w@.*?!{},()[\]+/ ^=-]*)*$/,
  url: /^https:\/\/[\w.-]+(?::\d+)?(?:\/[\w./?=&%#@+~,-]*)?$/,
  /** Whatever it is, no tool runs, loads or fetches it. */
  any: /^/,
} as const;

export type HarmlessValue = keyof typeof VALUES;

/**
 * The keys of a settings file that hold plain data, by what their values may be. Each is a path of names: `a.b` (with or
 * without lists on the way), `{a,b}`, `*` within a name, `**` over names, both without a slash, since such a name may be
 * a module or a file; `***` over any names. `never`: keys that are not plain whatever the others say. Letter case never
 * counts.
 */
export type HarmlessKeys = KeyLists & {
  /** Matches `key=value` of harmless data that the lists cannot describe. */
  readonly matching?: RegExp;
};
type KeyLists = Readonly<Partial<Record<HarmlessValue | 'never', readonly string[]>>>;

/** What one, two and three stars match. */
const STARS = ['[^.[\\]/\\\\]*', '[^/\\\\]*', '[\\s\\S]*'] as const;

function keyRegex(pattern: string): string {
  let out = '';
  for (let at = 0; at < pattern.length; at += 1) {
    const char = pattern[at] as string;
    if (char === '*') {
      const stars = /^\*{1,3}/.exec(pattern.slice(at))?.[0].length ?? 1;
      out += STARS[stars - 1];
      at += stars - 1;
    } else if (char === '{') out += '(?:';
    else if (char === '}') out += ')';
    else if (char === ',') out += '|';
    else if (char === '.') out += '(?:\\[\\])*\\.';
    else out += char.replace(/[+^$()|[\]\\]/g, '\\$&');
  }
  return out;
}

const regexOf = (patterns: readonly string[]): RegExp =>
  new RegExp(`^(?:${patterns.map(keyRegex).join('|')})(?:\\[\\])*$`, 'i');

const compiled = new WeakMap<HarmlessKeys, (leaf: Leaf) => boolean>();

/** Whether a leaf is harmless by a table, which is compiled once, at its first use. */
export function harmlessKeysOf(keys: HarmlessKeys): (leaf: Leaf) => boolean {
  const known = compiled.get(keys) ?? harmlessBy(keys);
  compiled.set(keys, known);
  return known;
}

function harmlessBy({ never = [], matching, ...keys }: HarmlessKeys): (leaf: Leaf) => boolean {
  const rows = lazy(() =>
    (Object.keys(keys) as HarmlessValue[]).map((kind) => ({ key: regexOf(keys[kind] ?? []), value: VALUES[kind] })),
  );
  const excluded = lazy(() => (never.length === 0 ? undefined : regexOf(never)));
  const isListed = ({ key, value }: Leaf): boolean =>
    key.length <= LONGEST_KEY &&
    value.length <= LONGEST_VALUE &&
    key.split('.', MOST_NAMES + 1).length <= MOST_NAMES &&
    rows().some((row) => row.key.test(key) && (value === '[]' || value === '{}' || row.value.test(value))) &&
    excluded()?.test(key) !== true;
  return (leaf) => isListed(leaf) || isHarmlessText(matching, `${leaf.key}=${leaf.value}`);
}

/** Whether an expression takes a whole line or `key=value` as harmless; a long one never is, since tools cut it. */
export const isHarmlessText = (regex: RegExp | undefined, text: string): boolean =>
  regex !== undefined && text.length <= LONGEST_VALUE && regex.test(text);

/** Longer ones are not matched: they are never harmless. */
const LONGEST_KEY = 300;
const MOST_NAMES = 20;
const LONGEST_VALUE = 8000;

/** What is harmless in the settings files of one tool. */
export interface HarmlessTable {
  /** Globs of the files (glob.ts). */
  readonly files: readonly string[];
  readonly harmless: HarmlessKeys;
  /** How it is read, if not by its name. */
  readonly format?: Format;
}

/** The same keys below other ones: `tool.x` in one file is `x` in another. */
export function below(prefixes: readonly string[], plain: KeyLists): KeyLists {
  return Object.fromEntries(
    Object.entries(plain).map(([kind, keys]) => [kind, prefixes.flatMap((prefix) => keys.map((key) => prefix + key))]),
  );
}

/** Tables as one. */
export function merged(...tables: readonly KeyLists[]): KeyLists {
  const out: Partial<Record<HarmlessValue | 'never', string[]>> = {};
  for (const table of tables)
    for (const [kind, keys] of Object.entries(table) as [HarmlessValue | 'never', readonly string[]][])
      out[kind] = [...(out[kind] ?? []), ...keys];
  return out;
}

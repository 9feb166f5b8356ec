import { lazy } from './lazy.ts';
import type { Leaf } from './structured.ts';

/** A path or pattern within the project: no `..`, no root, no home, no variable, no address. */
const WITHIN = /(?!.*(?:^|\/|!)\.\.(?:\/|$))(?![/~])[\w@.*?!{},()[\]+/ ^=-]*/.source;

/** What a value may be to count as plain data, by a name that says what the key holds. */
const VALUES = {
  /** A switch, a level or a number, with its unit. */
  switch:
    /^(?:true|false|null|on|off|yes|no|auto|none|always|never|all|error|errors|warn|warning|info|ignore|[-+]?[\d._]+\s?(?:[a-z]{0,12}|%))$/i,
  /** One name, number or version. It may be the name of a module, so the key must not load one. */
  word: /^[\w@+][\w.@+:-]*$/,
  /** Names with blanks and commas between them. Same limit. */
  words: /^(?!.*\.\.|[\s\S]*(?:^|[\s,])-[a-z])[\w@.+:*,;=<>!~^\s-]*$/i,
  version: /^[\w\s.*+~^<>=!,|&-]*$/,
  /** Text for a reader, on one or more lines. It names no program, and no tool expands it. */
  text: /^(?!\s*(?:[./~!|@$`%-]|file:))(?:(?!`|\$[({]|\{\{|\{%|<%|%\()[\s\S])*$/i,
  /** Files and folders of the project that are checked, packed or skipped: nothing in them is run for it. */
  glob: new RegExp(`^${WITHIN}$`),
  /** The same, one or more on a line or separated by commas. */
  globs: new RegExp(`^(?:${WITHIN}(?:\\s|$))*$`),
  url: /^https:\/\/[\w.-]+(?::\d+)?(?:\/[\w./?=&%#@+~,-]*)?$/,
  /** Whatever it is, no tool runs, loads or fetches it. */
  any: /^/,
} as const;

export type PlainValue = keyof typeof VALUES;

/**
 * The keys of a settings file that hold plain data, by what their values may be. Each is a path of names: `a.b` (with or
 * without lists on the way), `*` within a name, `**` over names, `{a,b}`. Letter case never counts.
 */
export type PlainKeys = Readonly<Partial<Record<PlainValue, readonly string[]>>>;

function keyRegex(pattern: string): string {
  let out = '';
  for (let at = 0; at < pattern.length; at += 1) {
    const char = pattern[at] as string;
    if (char === '*' && pattern[at + 1] === '*') {
      out += '[^]*';
      at += 1;
    } else if (char === '*') out += '[^.[\\]]*';
    else if (char === '{') out += '(?:';
    else if (char === '}') out += ')';
    else if (char === ',') out += '|';
    else if (char === '.') out += '(?:\\[\\])*\\.';
    else out += char.replace(/[+^$()|[\]\\]/g, '\\$&');
  }
  return out;
}

/** Whether a leaf is plain by a table; the table is compiled at its first use. */
export function plainBy(keys: PlainKeys): (leaf: Leaf) => boolean {
  const rows = lazy(() =>
    (Object.keys(keys) as PlainValue[]).map((kind) => ({
      key: new RegExp(`^(?:${(keys[kind] ?? []).map(keyRegex).join('|')})(?:\\[\\])*$`, 'i'),
      value: VALUES[kind],
    })),
  );
  return ({ key, value }) =>
    key.length <= LONGEST_KEY &&
    value.length <= LONGEST_VALUE &&
    rows().some((row) => row.key.test(key) && (value === '[]' || value === '{}' || row.value.test(value)));
}

/** Longer ones are not matched: they are never plain. */
const LONGEST_KEY = 1000;
const LONGEST_VALUE = 8000;

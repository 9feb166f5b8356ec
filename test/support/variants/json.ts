import type { Mutator } from './mutator.ts';
import { nameOf } from './mutator.ts';

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** Files whose tools read comments and commas at the end. */
const WITH_COMMENTS =
  /(^|\/)(\.vscode|\.zed|\.devcontainer|\.cursor)\/.*\.jsonc?$|\.(jsonc|json5|code-workspace)$|(^|\/)(tsconfig[^/]*|jsconfig|\.eslintrc|\.swcrc|\.babelrc|\.jshintrc|devcontainer|turbo|nx|deno|\.devcontainer|rush|command-line|\.luarc|api-extractor)(\.json)?$/;

export function parseJson(text: string): Json | undefined {
  if (!/^\s*[{[]/.test(text)) return undefined;
  try {
    const value = JSON.parse(text) as Json;
    // A key that is named twice is lost, and with it the attack.
    return minified(text) === JSON.stringify(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The text without blanks between its tokens. */
const minified = (text: string): string =>
  text.replace(/("(?:[^"\\]|\\.)*")|\s+/g, (_, literal: string | undefined) => literal ?? '');

/** A mutator of the parsed value. */
const of = (name: string, write: (value: Json) => string): Mutator => ({
  name: `json ${name}`,
  text(text) {
    const value = parseJson(text);
    return value === undefined ? undefined : write(value);
  },
});

const isObject = (value: Json): value is { readonly [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function reversed(value: Json): Json {
  if (Array.isArray(value)) return value.map(reversed);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, inner]) => [key, reversed(inner)]),
  );
}

/** A string with its first letter as an escape. */
const escaped = (text: string): string =>
  JSON.stringify(text).replace(/[a-zA-Z]/, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);

function write(value: Json, key: (text: string) => string, text: (text: string) => string): string {
  if (typeof value === 'string') return text(value);
  if (Array.isArray(value)) return `[${value.map((item: Json) => write(item, key, text)).join(', ')}]`;
  if (!isObject(value)) return String(value);
  return `{${Object.entries(value)
    .map(([name, inner]) => `${key(name)}: ${write(inner, key, text)}`)
    .join(', ')}}`;
}

/** Every object with each of its keys twice: the first one is harmless, and every parser takes the last. */
function twice(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(twice).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const harmless = (inner: Json): string => (isObject(inner) ? '{}' : Array.isArray(inner) ? '[]' : '""');
  const entries = Object.entries(value);
  return `{${[
    ...entries.map(([key, inner]) => `${JSON.stringify(key)}:${harmless(inner)}`),
    ...entries.map(([key, inner]) => `${JSON.stringify(key)}:${twice(inner)}`),
  ].join(',')}}`;
}

export const JSON_MUTATORS: readonly Mutator[] = [
  of('on one line', (value) => JSON.stringify(value)),
  of('indented', (value) => `${JSON.stringify(value, null, 2)}\n`),
  of('with blanks before colons', (value) =>
    JSON.stringify(value, null, '\t').replace(/^(\s*"(?:[^"\\]|\\.)*"):/gm, '$1 :'),
  ),
  of('with a line for each token', (value) =>
    JSON.stringify(value).replace(/("(?:[^"\\]|\\.)*")|([[\]{},:])/g, (_, text, mark) => text ?? `\n${mark}\n`),
  ),
  of('in the other order', (value) => JSON.stringify(reversed(value), null, 2)),
  of('with escapes in keys', (value) => write(value, escaped, JSON.stringify)),
  of('with escapes in values', (value) => write(value, JSON.stringify, escaped)),
  of('with a solidus escaped', (value) => JSON.stringify(value).replaceAll('/', '\\/')),
  of('with every key twice', twice),
  {
    name: 'json with comments',
    text(text, path) {
      const value = WITH_COMMENTS.test(path) ? parseJson(text) : undefined;
      if (value === undefined) return undefined;
      return `// settings\n${JSON.stringify(value, null, 2)
        .replace(/: /g, ' /* : */ : ')
        .replace(/(["}\]\w])\n(\s*[}\]])/g, '$1, // end\n$2')}`;
    },
  },
  {
    name: 'json as yaml',
    // A file without an ending is read as YAML by the tools that read several formats.
    text(text, path) {
      const value =
        /^\.\w+rc$/.test(nameOf(path)) && !/^\.(npm|yarn|luacheck|bower|jshint)rc$/.test(nameOf(path))
          ? parseJson(text)
          : undefined;
      if (value === undefined || !isObject(value)) return undefined;
      return Object.entries(value)
        .map(([key, inner]) => `${JSON.stringify(key)} : ${JSON.stringify(inner)}\n`)
        .join('');
    },
  },
];

import { parse } from 'smol-toml';
import { eachLine, type Mutator } from './mutator.ts';

type Table = Readonly<Record<string, unknown>>;

const isTable = (value: unknown): value is Table =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);

function tableOf(text: string, path: string): Table | undefined {
  if (!path.endsWith('.toml') && !path.endsWith('.cargo/config')) return undefined;
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

const keyOf = (key: string): string => (/^[\w-]+$/.test(key) ? key : JSON.stringify(key));
const escapedKey = (key: string): string =>
  JSON.stringify(key).replace(/[A-Za-z]/, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);

function literalOf(value: unknown, key: (text: string) => string = keyOf): string {
  if (Array.isArray(value)) return `[${value.map((item) => literalOf(item, key)).join(', ')}]`;
  if (isTable(value))
    return `{ ${Object.entries(value)
      .map(([name, inner]) => `${key(name)} = ${literalOf(inner, key)}`)
      .join(', ')} }`;
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}

/** `a.b.c = value`, a line for each value that is not a table. */
function dotted(table: Table, key: (text: string) => string, above: readonly string[] = []): string {
  return Object.entries(table)
    .map(([name, value]) => {
      const path = [...above, key(name)];
      if (isTable(value) && Object.keys(value).length > 0) return dotted(value, key, path);
      return `${path.join('.')} = ${literalOf(value, key)}\n`;
    })
    .join('');
}

/** A section for each table, with blanks where TOML lets them be. */
function sections(table: Table, above: readonly string[] = []): string {
  const own = Object.entries(table).filter(([, value]) => !isTable(value));
  const inner = Object.entries(table).filter((entry): entry is [string, Table] => isTable(entry[1]));
  const head = above.length > 0 && (own.length > 0 || inner.length === 0) ? `[ ${above.join(' . ')} ] # x\n` : '';
  const lines = own.map(([name, value]) => `\t${keyOf(name)}\t=\t${literalOf(value)}\n`).join('');
  return head + lines + inner.map(([name, value]) => sections(value, [...above, keyOf(name)])).join('');
}

const of = (name: string, write: (value: Table) => string): Mutator => ({
  name: `toml ${name}`,
  text(text, path) {
    const table = tableOf(text, path);
    return table === undefined ? undefined : write(table);
  },
});

export const TOML_MUTATORS: readonly Mutator[] = [
  of('with dotted keys', (table) => dotted(table, keyOf)),
  of('with quoted keys', (table) => dotted(table, JSON.stringify)),
  of('with escaped keys', (table) => dotted(table, escapedKey)),
  of('with inline tables', (table) =>
    Object.entries(table)
      .filter(([, value]) => !isTable(value))
      .concat(Object.entries(table).filter(([, value]) => isTable(value)))
      .map(([key, value]) => `${keyOf(key)} = ${literalOf(value)}\n`)
      .join(''),
  ),
  of('with blanks in sections', (table) => sections(table)),
  of('with literal strings', (table) => dotted(table, keyOf).replace(/"([^"\\'\n]*)"/g, "'$1'")),
  of('with long strings', (table) => dotted(table, keyOf).replace(/= "([^"\\\n]+)"$/gm, '= """\n$1"""')),
  {
    name: 'toml without blanks',
    text: (text, path) =>
      tableOf(text, path) === undefined || /"""|'''/.test(text)
        ? undefined
        : eachLine(text, (line) => line.replace(/^\s*([\w.-]+)\s*=\s*/, '$1=')),
  },
];

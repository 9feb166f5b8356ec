import { parse as parseToml } from 'smol-toml';
import { readYaml } from '../formats/parsers/yaml.ts';
import { type Leaf, readStructure } from '../formats/structured.ts';
import { pathsOf, plainKeysOf } from './judge.ts';
import type { PlainKeys } from './plain.ts';
import { isProgram } from './program.ts';
import type { JudgedText } from './rule.ts';

/** A text before and after a change. */
type Both = Readonly<Record<'before' | 'after', string>>;

/**
 * A proof that a change of one file is plain data and nothing else: a rule that reports any change of such a file is quiet
 * about it. Whatever is not proven stays a finding.
 */
export interface PlainChange {
  /** Globs of the files (glob.ts). */
  readonly paths: readonly string[];
  /** Whether the change is proven; both texts are there, and the file was and is one that cannot be executed. */
  readonly proves: (texts: Both) => boolean;
  /** Whether the deletion of a file with this text is proven; without it none is. */
  readonly provesDeletion?: (before: string) => boolean;
}

/** Whether one of the proofs covers a change of a file that keeps its kind and mode, or its deletion. */
export function isPlainChange(changes: readonly PlainChange[], text: JudgedText): boolean {
  const { before, after, change } = text;
  if (before !== undefined && change.kind === 'deleted')
    return changes.some(({ paths, provesDeletion }) => pathsOf(paths)(text.path) && provesDeletion?.(before) === true);
  if (before === undefined || after === undefined || isProgram(text)) return false;
  if (change.before?.kind !== 'file' || change.after?.kind !== 'file' || change.before.mode !== change.after.mode)
    return false;
  return changes.some(({ paths, proves }) => pathsOf(paths)(text.path) && proves({ before, after }));
}

/**
 * Proves that only listed keys have other values, and that these are plain data: without them, both texts are the same
 * tree, in the same order. In YAML and TOML each new or deleted line must look like `lines`, since tools differ in how they
 * read other spellings of one tree.
 */
export function onlyPlainKeys(
  format: 'json' | 'yaml' | 'toml',
  table: { readonly plain?: PlainKeys; readonly safe?: RegExp; readonly lines?: RegExp },
): PlainChange['proves'] {
  const { plain = {}, safe, lines } = table;
  const isPlain = (leaf: Leaf): boolean => plainKeysOf(plain)(leaf) || safe?.test(`${leaf.key}=${leaf.value}`) === true;
  return ({ before, after }) => {
    if (lines !== undefined && !differOnlyIn(lines, { before, after })) return false;
    const rests = [before, after].map((text) => restOf(text, format, isPlain));
    return rests[0] !== undefined && rests[0] === rests[1];
  };
}

/** Whether every line that one of the texts has more often than the other is whole and alone of this form. */
export function differOnlyIn(form: RegExp, { before, after }: Both): boolean {
  const left = new Map<string, number>();
  for (const line of before.split('\n')) left.set(line, (left.get(line) ?? 0) + 1);
  for (const line of after.split('\n')) left.set(line, (left.get(line) ?? 0) - 1);
  return [...left].every(([line, count]) => count === 0 || (ONE_LINE.test(line) && form.test(line)));
}

/** Printable, and no character that some tool takes for the end of a line. */
const ONE_LINE = /^[\t\x20-\x7e\u00a1-\u024f]*$/;

/** The tree of a text without its plain leaves, as text; undefined if tools may read it in different ways. */
function restOf(text: string, format: 'json' | 'yaml' | 'toml', isPlain: (leaf: Leaf) => boolean): string | undefined {
  // It also bounds what the parsers below have to read.
  const structure = readStructure(text, format, `x.${format}`);
  if (structure === undefined || structure.duplicates.length > 0 || structure.tags.length > 0) return undefined;
  return show(valuesOf(text, format), '', isPlain);
}

function valuesOf(text: string, format: 'json' | 'yaml' | 'toml'): unknown {
  if (format === 'json') return text.trim() === '' ? undefined : JSON.parse(text);
  if (format === 'toml') return parseToml(text);
  const documents = readYaml(text)?.values ?? [];
  // Keys have no document's number in front of them.
  return documents.length === 1 ? documents[0] : undefined;
}

/** A value as text without its plain leaves; {@link PLAIN} for one that holds nothing else. */
function show(value: unknown, key: string, isPlain: (leaf: Leaf) => boolean): string {
  if (Array.isArray(value)) {
    const items = value.map((item) => {
      const shown = show(item, `${key}[]`, isPlain);
      // Which item has what counts, so an object stays one.
      return shown === PLAIN && isTree(item) ? '{}' : shown;
    });
    const rest = items.filter((item) => item !== PLAIN);
    return rest.length === 0 && value.length > 0 ? PLAIN : `[${rest.join(',')}]`;
  }
  if (isTree(value)) {
    const entries: [unknown, unknown][] = value instanceof Map ? [...value] : Object.entries(value);
    const rest = entries.flatMap(([name, item]) => {
      const shown = show(item, key === '' ? String(name) : `${key}.${String(name)}`, isPlain);
      return shown === PLAIN ? [] : [`${typeof name} ${JSON.stringify(String(name))}:${shown}`];
    });
    return rest.length === 0 && entries.length > 0 ? PLAIN : `{${rest.join(',')}}`;
  }
  return isPlain({ key, value: String(value) }) ? PLAIN : `${typeof value} ${JSON.stringify(String(value))}`;
}

const isTree = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);

const PLAIN = '';

import { parse as parseToml } from 'smol-toml';
import type { Leaf } from '../formats/leaf.ts';
import { readYaml } from '../formats/parsers/yaml.ts';
import { readStructure } from '../formats/structured.ts';
import { type HarmlessKeys, harmlessKeysOf } from './harmless-keys.ts';
import { pathsOf } from './judge.ts';
import { isProgram } from './program.ts';
import type { BothTexts, HarmlessChange, JudgedText, Rule } from './rule.ts';

/** Whether a rule takes a change of a file that keeps its kind and mode, or its deletion, as proven to be harmless. */
export function isHarmlessChange({ harmless = [] }: Pick<Rule, 'harmless'>, text: JudgedText): boolean {
  const { before, after, change } = text;
  const proofs = harmless.filter((one) => typeof one === 'object' && pathsOf(one.files)(text.path)) as HarmlessChange[];
  if (before === undefined || proofs.length === 0) return false;
  if (change.kind === 'deleted') return proofs.some(({ provesDeletion }) => provesDeletion?.(before) === true);
  if (after === undefined || isProgram(text)) return false;
  if (change.before?.kind !== 'file' || change.after?.kind !== 'file' || change.before.mode !== change.after.mode)
    return false;
  return proofs.some(({ proves }) => proves({ before, after }));
}

/**
 * Proves that only listed keys have other values, and that these are harmless: without them, both texts are the same
 * tree, in the same order. In YAML and TOML each new or deleted line must look like `lines`, since tools differ in how they
 * read other spellings of one tree.
 */
export function onlyHarmlessKeys(
  format: 'json' | 'yaml' | 'toml',
  { harmless, lines }: { readonly harmless: HarmlessKeys; readonly lines?: RegExp },
): HarmlessChange['proves'] {
  const isHarmless = harmlessKeysOf(harmless);
  return ({ before, after }) => {
    if (lines !== undefined && !differOnlyIn(lines, { before, after })) return false;
    const rests = [before, after].map((text) => restOf(text, format, isHarmless));
    return rests[0] !== undefined && rests[0] === rests[1];
  };
}

/** Whether every line that one of the texts has more often than the other is whole and alone of this form. */
export function differOnlyIn(form: RegExp, { before, after }: BothTexts): boolean {
  const left = new Map<string, number>();
  for (const line of before.split('\n')) left.set(line, (left.get(line) ?? 0) + 1);
  for (const line of after.split('\n')) left.set(line, (left.get(line) ?? 0) - 1);
  return [...left].every(([line, count]) => count === 0 || (ONE_LINE.test(line) && form.test(line)));
}

/** Proves that only lines of a form differ, and that the other ones are in the same order. */
export const onlyLines =
  (form: RegExp): HarmlessChange['proves'] =>
  ({ before, after }) => {
    const rest = (text: string): string =>
      text
        .split('\n')
        .filter((line) => !form.test(line))
        .join('\n');
    return differOnlyIn(form, { before, after }) && rest(before) === rest(after);
  };

/** Printable, and no character that some tool takes for the end of a line. */
const ONE_LINE = /^[\t\x20-\x7e\u00a1-\u024f]*$/;

/** The tree of a text without its harmless leaves, as text; undefined if tools may read it in different ways. */
function restOf(
  text: string,
  format: 'json' | 'yaml' | 'toml',
  isHarmless: (leaf: Leaf) => boolean,
): string | undefined {
  // It also bounds what the parsers below have to read.
  const structure = readStructure(text, format, `x.${format}`);
  if (structure === undefined || structure.duplicates.length > 0 || structure.tags.length > 0) return undefined;
  return show(valuesOf(text, format), '', isHarmless);
}

function valuesOf(text: string, format: 'json' | 'yaml' | 'toml'): unknown {
  if (format === 'json') return text.trim() === '' ? undefined : JSON.parse(text);
  if (format === 'toml') return parseToml(text);
  const documents = readYaml(text)?.values ?? [];
  // Keys have no document's number in front of them.
  return documents.length === 1 ? documents[0] : undefined;
}

/** A value as text without its harmless leaves; {@link HARMLESS} for one that holds nothing else. */
function show(value: unknown, key: string, isHarmless: (leaf: Leaf) => boolean): string {
  if (Array.isArray(value)) {
    const items = value.map((item) => {
      const shown = show(item, `${key}[]`, isHarmless);
      // Which item has what counts, so an object stays one.
      return shown === HARMLESS && isTree(item) ? '{}' : shown;
    });
    const rest = items.filter((item) => item !== HARMLESS);
    return rest.length === 0 && value.length > 0 ? HARMLESS : `[${rest.join(',')}]`;
  }
  if (isTree(value)) {
    const entries: [unknown, unknown][] = value instanceof Map ? [...value] : Object.entries(value);
    const rest = entries.flatMap(([name, item]) => {
      const shown = show(item, key === '' ? String(name) : `${key}.${String(name)}`, isHarmless);
      return shown === HARMLESS ? [] : [`${typeof name} ${JSON.stringify(String(name))}:${shown}`];
    });
    return rest.length === 0 && entries.length > 0 ? HARMLESS : `{${rest.join(',')}}`;
  }
  return isHarmless({ key, value: String(value) }) ? HARMLESS : `${typeof value} ${JSON.stringify(String(value))}`;
}

const isTree = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);

const HARMLESS = '';

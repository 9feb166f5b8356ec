import type { Leaf } from '../formats/leaf.ts';
import { newLeaves, readStructure } from '../formats/structured.ts';
import { judge } from './judge.ts';
import type { JudgedText, Look } from './rule.ts';

/** Something new in a file that a judge took as plain, and why it did. */
export interface PlainPart {
  readonly what: string;
  readonly why: string;
}

/** What one judge of a rule made of a change. */
export interface JudgeExplanation {
  /** What it looks for. */
  readonly looksFor: string;
  /** What counts, as in the finding. */
  readonly counts: readonly string[];
  readonly plain: readonly PlainPart[];
}

const why = 'only keys that are listed for this file have other values, and nothing runs or loads these';
/** The explanation of a rule that reports any change but this one, which is proven to be plain data. */
export const PLAIN_ONLY: JudgeExplanation = {
  looksFor: 'anything but plain data',
  counts: [],
  plain: [{ what: 'the whole change', why }],
};

const LOOKS_FOR: Readonly<Record<string, string>> = {
  any: 'any change',
  content: 'any change',
  new: 'a new file',
  code: 'a program, by its ending',
  keys: 'keys and values that run, load or redirect something',
  settings: 'keys and values that are not known to be harmless',
  signal: 'lines that run, load or redirect something',
  lines: 'lines that run, load or redirect something',
  custom: 'what the change as a whole does',
};

/** Repeats the judgement of one judge, and says of each new key or line that does not count why it does not. Pure. */
export function explainJudge(one: Look, text: JudgedText): JudgeExplanation {
  const counts = judge({ look: [one] }, text).filter((part) => part !== '');
  return { looksFor: LOOKS_FOR[one.kind] ?? one.kind, counts, plain: plainParts(one, text, new Set(counts)) };
}

function plainParts(one: Look, text: JudgedText, counts: ReadonlySet<string>): PlainPart[] {
  if ('format' in one) {
    const after = readStructure(text.after ?? '', one.format, text.path);
    if (after === undefined) return [];
    const before = readStructure(text.before ?? '', one.format, text.path);
    return newLeaves(before?.leaves ?? [], after.leaves)
      .filter((leaf) => !counts.has(partOf(leaf)))
      .map((leaf) => ({ what: partOf(leaf), why: whyPlain(one, leaf) }));
  }
  if (one.kind !== 'lines' || one.danger === undefined) return [];
  const { danger, harmless } = one;
  return text
    .added()
    .filter((line) => line.text.trim() !== '' && !counts.has(`line ${line.line}: ${line.text.slice(0, MAX_SHOWN)}`))
    .map((line) => {
      const what = `line ${line.line}: ${line.text.slice(0, MAX_SHOWN)}`;
      return { what, why: harmless?.test(line.text) ? matches(harmless) : `does not match ${patternOf(danger)}` };
    });
}

/** So many characters of a value or line a judge shows. */
const MAX_SHOWN = 120;

/** A leaf as a finding names it. */
const partOf = ({ key, value }: Leaf): string => `${key}: ${value.slice(0, MAX_SHOWN)}`;

function whyPlain(one: Extract<Look, { format: unknown }>, { key, value }: Leaf): string {
  const harmless = one.kind === 'keys' ? one.harmless : one.harmless.matching;
  if (harmless?.test(`${key}=${value}`)) return matches(harmless);
  if (one.kind !== 'keys') return 'the rule lists this key with such a value as harmless';
  const patterns = [
    ...(one.danger === undefined ? [] : [`the key does not match ${patternOf(one.danger)}`]),
    ...(one.value === undefined ? [] : [`the value does not match ${patternOf(one.value)}`]),
  ];
  return patterns.join(', ');
}

const matches = (regex: RegExp): string => `matches what the rule takes as harmless: ${patternOf(regex)}`;

/** Longer expressions are cut: they are in the rule's source. */
const MAX_PATTERN = 200;

function patternOf(regex: RegExp): string {
  const text = String(regex);
  return text.length <= MAX_PATTERN ? text : `${text.slice(0, MAX_PATTERN)}…`;
}

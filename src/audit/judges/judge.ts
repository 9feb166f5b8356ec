import { matcherOf } from '../formats/glob.ts';
import type { Leaf } from '../formats/leaf.ts';
import type { Line } from '../formats/lines.ts';
import { type Format, newLeaves, readStructure, type Structure, unreadReason } from '../formats/structured.ts';
import { usualSpellingOf } from '../formats/usual-spelling.ts';
import { harmlessKeysOf, isHarmlessText } from './harmless-keys.ts';
import { isProgram } from './program.ts';
import type { JudgedText, Look, Rule } from './rule.ts';

/** The longest piece of a line that an expression searches, in characters. */
const WINDOW = 4000;
/** Pieces overlap by the length of the longest match of any rule. */
const OVERLAP = 500;

/** What counts in this change for the rule; empty when nothing does. A file that does not parse counts. */
export function judge({ look }: Pick<Rule, 'look'>, text: JudgedText): readonly string[] {
  const seen: string[] = [];
  for (const one of look) for (const found of judgeOne(one, text)) seen.push(found);
  // What reads lines gets a file once more in the usual spelling of its format.
  const byLines = seen.length > 0 ? [] : look.filter(({ kind }) => kind === 'lines' || kind === 'custom');
  const usual = byLines.length === 0 ? undefined : usualSpellingOf(text.path, text);
  if (usual === 'too much to judge') seen.push(usual);
  else if (usual !== undefined)
    for (const one of byLines)
      for (const found of judgeOne(one, { ...text, ...usual })) seen.push(found.replace(/^line \d+: /, 'read as: '));
  return [...new Set(seen)];
}

function judgeOne(rule: Look, text: JudgedText): readonly string[] {
  switch (rule.kind) {
    // The rule reports the change whatever its looks find in it.
    case 'any':
      return [];
    case 'content':
      return [''];
    case 'new':
      return text.before === undefined ? ['new file'] : [];
    case 'code':
      return text.after !== undefined && isProgram(text) ? ['a program'] : [];
    case 'lines':
      return judgeLines(rule, text);
    case 'keys':
      return judgeKeys(rule, text);
    case 'settings':
      return judgeSettings(rule, text);
    case 'custom':
      return rule.see(text);
    // Read with all others in one pass over the new lines.
    case 'signal':
      return [];
  }
}

/** Whether a linear regular expression matches in a line: a long line is searched in overlapping pieces. */
export function seesIn(regex: RegExp, line: string): boolean {
  if (line.length <= 2 * WINDOW) return regex.test(line);
  for (let at = 0; at < line.length; at += WINDOW) if (regex.test(line.slice(at, at + WINDOW + OVERLAP))) return true;
  return false;
}

/** The new lines that an expression matches, cut to the length that is shown. */
export function newLinesWith({ added }: JudgedText, regex: RegExp): string[] {
  return added()
    .filter(({ text }) => seesIn(regex, text))
    .map(({ text }) => text.slice(0, 120));
}

/**
 * Other ways in which a tool may read a line: with its escapes resolved and its keys without quotes, and joined with
 * the next one where a backslash ends it.
 */
function readings(lines: readonly Line[], at: number, structured: boolean): string[] {
  const { text, line } = lines[at] as Line;
  const next = lines[at + 1];
  const joined = text.endsWith('\\') && next?.line === line + 1 ? text.slice(0, -1) + next.text : text;
  if (!structured || !HAS_OTHER_READING.test(joined)) return joined === text ? [text] : [text, joined];
  const plain = joined
    .slice(0, LONGEST_READ)
    .replace(/\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8}))/gi, (whole, x?: string, u?: string, long?: string) => {
      const code = Number.parseInt(x ?? u ?? long ?? '', 16);
      return code < 0x110000 ? String.fromCodePoint(code) : whole;
    })
    .replace(/(["'])([\w$.-]{1,100})\1(?=\s*[:=])/g, '$2')
    .replace(/^\?\s+(["']?)([\w$.-]+)\1$/, '$2:')
    // YAML takes blanks before the colon of a key.
    .replace(/([\w$.-])[^\S\n]{1,100}:(?=[\s[{"'|>&!*]|$)/g, '$1:');
  return [...new Set([text, joined, plain])];
}
/** What one of the replacements above needs: most lines have none of it. */
const HAS_OTHER_READING = /["'\\]|^\?|[^\S\n]:/;
const STRUCTURED = /\.(json[c5]?|ya?ml|toml)$/i;
const LONGEST_READ = 1 << 16;

function judgeLines(rule: Extract<Look, { kind: 'lines' }>, text: JudgedText): string[] {
  const { danger, harmless, removed, mark, files } = rule;
  if (files !== undefined && !pathsOf(files)(text.path)) return [];
  if (mark !== undefined && !mark.test(text.after ?? '')) return [];
  const structured = STRUCTURED.test(text.path);
  const hit = (regex: RegExp, at: number, lines: readonly Line[]): boolean => {
    const raw = (lines[at] as Line).text;
    // Without an escape or a continued line there is only one reading, quoted or not.
    if (!raw.includes('\\') && isHarmlessText(harmless, raw)) return false;
    return readings(lines, at, structured).some((one) => seesIn(regex, one) && !isHarmlessText(harmless, one));
  };
  const added = danger === undefined ? [] : text.added().filter((_, at, lines) => hit(danger, at, lines));
  const wasIn = (regex: RegExp, at: number, lines: readonly Line[]): boolean =>
    readings(lines, at, structured).some((one) => seesIn(regex, one));
  const deleted = removed === undefined ? [] : text.deleted().filter((_, at, lines) => wasIn(removed, at, lines));
  return [
    ...added.map((line) => `line ${line.line}: ${line.text.slice(0, 120)}`),
    ...deleted.map((line) => `removed: ${line.text.slice(0, 120)}`),
  ];
}

function judgeKeys(rule: Extract<Look, { kind: 'keys' }>, text: JudgedText): string[] {
  const { danger, value, harmless, removed } = rule;
  const counts = (leaf: Leaf): boolean => {
    if (isHarmlessText(harmless, `${leaf.key}=${leaf.value}`)) return false;
    if (danger !== undefined && seesIn(danger, leaf.key)) return true;
    return value !== undefined && leaf.value.split('\n').some((line) => seesIn(value, line));
  };
  return judgeLeaves(rule, text, counts, removed);
}

function judgeSettings(rule: Extract<Look, { kind: 'settings' }>, text: JudgedText): string[] {
  const { harmless, removed, files } = rule;
  if (files !== undefined && !pathsOf(files)(text.path)) return [];
  const isHarmless = harmlessKeysOf(harmless);
  const counts = (leaf: Leaf): boolean => !isHarmless(leaf);
  const odd = ODD_SETTINGS.filter(({ sign }) => sign.test(text.after ?? '') && !sign.test(text.before ?? ''));
  return [...judgeLeaves(rule, text, counts, removed), ...odd.map(({ says }) => says)];
}

const matchers = new WeakMap<readonly string[], (path: string) => boolean>();

/** Whether one of the globs matches a path; they are compiled once. */
export function pathsOf(globs: readonly string[]): (path: string) => boolean {
  const known = matchers.get(globs) ?? matcherOf(globs);
  matchers.set(globs, known);
  return known;
}

/** Spellings on which parsers differ. */
const ODD_SETTINGS = [
  { sign: /^[ \t]*(?:- )*["']?<<["']?[ \t]*:/m, says: 'a key that merges others' },
  { sign: /^[ \t]+\[[^\]\n"',]+\][ \t]*$/m, says: 'an indented section' },
] as const;

/** What counts in the leaves of a settings file; a program under its name counts as one. */
function judgeLeaves(
  { format }: { readonly format: Format },
  text: JudgedText,
  counts: (leaf: Leaf) => boolean,
  removed: RegExp | undefined,
): string[] {
  if (text.after !== undefined && isProgram(text)) return ['a program'];
  const after = readStructure(text.after ?? '', format, text.path);
  if (after === undefined) return [unreadReason(text.after ?? '', format, text.path) ?? 'does not parse'];
  const before = readStructure(text.before ?? '', format, text.path);
  const old = before?.leaves ?? [];
  const keys = new Set(after.leaves.map((leaf) => leaf.key));
  const deleted = removed === undefined ? [] : old.filter((leaf) => !keys.has(leaf.key) && seesIn(removed, leaf.key));
  return [
    ...newLeaves(old, after.leaves)
      .filter(counts)
      .map((leaf) => `${leaf.key}: ${leaf.value.slice(0, 120)}`),
    ...deleted.map((leaf) => `${leaf.key} was removed`),
    ...ambiguities(before, after),
  ];
}

function ambiguities(before: Structure | undefined, after: Structure): string[] {
  const [oldTwice, oldTags] = [new Set(before?.duplicates), new Set(before?.tags)];
  const twice = after.duplicates.filter((key) => !oldTwice.has(key));
  const tags = after.tags.filter((tag) => !oldTags.has(tag));
  return [...twice.map((key) => `${key} appears twice`), ...tags.map((tag) => `unknown tag: ${tag}`)];
}

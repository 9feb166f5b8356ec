import type { Line } from './lines.ts';
import type { FileRule, Judge, JudgedText } from './rule.ts';
import { newLeaves, readStructure } from './structured.ts';

/** Regular expressions see at most this much of one line from either end. */
const WINDOW = 4000;
const CODE =
  /\.(js|cjs|mjs|jsx|ts|cts|mts|tsx|py|rb|lua|php|pl|sh|bash|zsh|fish|ps1|star|kts|groovy|exs|R)$|(^|\/)(jake|cake)file$/i;

/** What in this change counts for the rule: empty when nothing does. A file that does not parse counts. */
export function judge(rule: FileRule, text: JudgedText): readonly string[] {
  const seen: string[] = [];
  for (const one of rule.judges) seen.push(...judgeOne(one, text));
  return [...new Set(seen)];
}

function judgeOne(rule: Judge, text: JudgedText): readonly string[] {
  switch (rule.kind) {
    case 'any':
      return [''];
    case 'new':
      return text.before === undefined ? ['new file'] : [];
    case 'code':
      return CODE.test(text.path) && text.after !== undefined ? ['a program'] : [];
    case 'lines':
      return judgeLines(rule, text);
    case 'keys':
      return judgeKeys(rule, text);
    case 'custom':
      return rule.see(text);
  }
}

/** Whether a linear regular expression matches in the part of a line that is looked at. */
export function seesIn(regex: RegExp, line: string): boolean {
  if (line.length <= 2 * WINDOW) return regex.test(line);
  return regex.test(line.slice(0, WINDOW)) || regex.test(line.slice(-WINDOW));
}

function judgeLines(rule: Extract<Judge, { kind: 'lines' }>, text: JudgedText): string[] {
  const { danger, safe, removed } = rule;
  const hit = (line: Line, regex: RegExp): boolean =>
    seesIn(regex, line.text) && !(safe !== undefined && seesIn(safe, line.text));
  const added = danger === undefined ? [] : text.added().filter((line) => hit(line, danger));
  const gone = removed === undefined ? [] : text.gone().filter((line) => seesIn(removed, line.text));
  return [
    ...added.map((line) => `line ${line.line}: ${line.text.slice(0, 120)}`),
    ...gone.map((line) => `gone: ${line.text.slice(0, 120)}`),
  ];
}

function judgeKeys(rule: Extract<Judge, { kind: 'keys' }>, text: JudgedText): string[] {
  if (CODE.test(text.path)) return [];
  const after = readStructure(text.after ?? '', rule.format, text.path);
  if (after === undefined) return ['does not parse'];
  const before = readStructure(text.before ?? '', rule.format, text.path);
  const old = before?.leaves ?? [];
  const { danger, value, safe, removed } = rule;
  const added = newLeaves(old, after.leaves).filter((leaf) => {
    if (safe !== undefined && seesIn(safe, `${leaf.key}=${leaf.value}`)) return false;
    if (danger !== undefined && seesIn(danger, leaf.key)) return true;
    return value !== undefined && leaf.value.split('\n').some((line) => seesIn(value, line));
  });
  const keys = new Set(after.leaves.map((leaf) => leaf.key));
  const gone = removed === undefined ? [] : old.filter((leaf) => !keys.has(leaf.key) && seesIn(removed, leaf.key));
  const twice = after.duplicates.filter((key) => !before?.duplicates.includes(key));
  const tags = after.tags.filter((tag) => !before?.tags.includes(tag));
  return [
    ...added.map((leaf) => `${leaf.key}: ${leaf.value.slice(0, 120)}`),
    ...gone.map((leaf) => `${leaf.key} is gone`),
    ...twice.map((key) => `${key} stands twice`),
    ...tags.map((tag) => `unknown tag: ${tag}`),
  ];
}

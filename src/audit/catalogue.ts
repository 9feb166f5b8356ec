import type { Severity } from '../core/types/finding.ts';
import { splitGlobs } from './formats/glob.ts';
import { GENERAL_RULES } from './general-rules/all.ts';
import type { GeneralRule } from './general-rules/rule.ts';
import { type Look, type Rule, reportsAny, SUSPECT_FILE } from './judges/rule.ts';
import { FILE_RULES, SIGNAL_RULES } from './rules/all.ts';

/** A rule as `run-claude audit --rules`, docs/audit-rules.md and reports show it. */
export interface RuleInfo {
  readonly id: string;
  readonly title: string;
  readonly family: string;
  /** What a user does that runs it. */
  readonly trigger: string;
  /** The highest severity of its findings, before the configuration's. */
  readonly severity: Severity;
  /** What it judges. */
  readonly matches: string;
  readonly why: string;
  readonly source: string;
}

/** Every built-in rule, by family and id. */
export function allRules(): readonly RuleInfo[] {
  const rules = [...GENERAL_RULES.map(infoOf), ...SIGNAL_RULES.map(infoOf), ...FILE_RULES.map(infoOf)];
  return rules.sort((a, b) => (a.family === b.family ? (a.id < b.id ? -1 : 1) : a.family < b.family ? -1 : 1));
}

/** Ids of the built-in rules whose every finding is blocked. Others with this severity have findings of a lower one too. */
export function blockingRules(): ReadonlySet<string> {
  const mixed = GENERAL_RULES.filter(({ cases = {} }) =>
    Object.values(cases).some(({ severity = 'blocked' }) => severity !== 'blocked'),
  );
  const excluded = new Set(mixed.map(({ id }) => id));
  const blocked = allRules().filter(({ id, severity }) => severity === 'blocked' && !excluded.has(id));
  return new Set(blocked.map(({ id }) => id));
}

/** The built-in rules with these ids. */
export function rulesNamed(ids: Iterable<string>): readonly RuleInfo[] {
  const wanted = new Set(ids);
  return allRules().filter((rule) => wanted.has(rule.id));
}

function infoOf(rule: Rule | GeneralRule): RuleInfo {
  const { id, family, when: trigger, severity, why, source, title = SUSPECT_FILE } = rule;
  return { id, title, family, trigger, severity, matches: 'about' in rule ? rule.about : matchesOf(rule), why, source };
}

function matchesOf(rule: Rule): string {
  if (rule.look.some(({ kind }) => kind === 'signal')) return 'new lines of files by their content';
  const { named, excepted } = splitGlobs(rule.files);
  const except = excepted.length === 0 ? '' : `, but not ${list(excepted)}`;
  return `${howOf(rule)} in ${list(named)}${except}`;
}

/** A longer list tells a reader nothing. */
const MOST_NAMED = 30;

function list(globs: readonly string[]): string {
  const named = globs.slice(0, MOST_NAMED).map((glob) => `\`${glob}\``);
  return [...named, ...(globs.length > MOST_NAMED ? [`and ${globs.length - MOST_NAMED} more`] : [])].join(' ');
}

function howOf(rule: Rule): string {
  const anything = reportsAny(rule) || rule.look.some(({ kind }) => kind === 'content');
  if (anything) return 'any change';
  return [...new Set(rule.look.map(({ kind }) => HOW[kind]))].join(', ');
}

const HOW: Readonly<Record<Look['kind'], string>> = {
  any: 'any change',
  content: 'any change',
  new: 'a new file',
  code: 'any change of a program',
  keys: 'keys that run, load or redirect something',
  settings: 'keys and values that are not known to be plain data',
  signal: 'lines that run, load or redirect something',
  lines: 'lines that run, load or redirect something',
  custom: 'what the change does',
};

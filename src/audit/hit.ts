import type { Severity } from '../core/types/finding.ts';
import { GENERAL_RULES, type GeneralRules } from './general-rules/all.ts';
import type { GeneralRule, RuleText } from './general-rules/rule.ts';

/** One finding, before the configuration's severities. */
export interface Hit {
  readonly rule: string;
  readonly severity: Severity;
  readonly path: string;
  readonly title: string;
  readonly why: string;
  readonly detail?: string;
  readonly line?: number;
}

export type GeneralRuleId = keyof GeneralRules;
/** The cases of a rule that have words of their own. */
export type CaseOf<Id extends GeneralRuleId> = GeneralRules[Id] extends { readonly cases: infer Cases }
  ? keyof Cases
  : never;

/** The position of a finding in its change, and what was found there. */
export interface HitPlace {
  readonly detail?: string | undefined;
  /** From 1. */
  readonly line?: number | undefined;
}

/** What a rule says in general or in one of its cases, with the rule's id. */
export interface RuleWords extends RuleText {
  readonly rule: string;
}

export function textOf<Id extends GeneralRuleId>(rule: Id, name?: CaseOf<Id>): RuleWords {
  const { severity, title, why, cases }: GeneralRule = GENERAL_RULES[rule];
  const own = name === undefined ? undefined : cases?.[name as string];
  return { rule, severity, title, why, ...own };
}

/** A finding of a general rule, in the words of its table. */
export function hitOf<Id extends GeneralRuleId>(
  rule: Id,
  path: string,
  { case: name, ...place }: HitPlace & { readonly case?: CaseOf<Id> | undefined } = {},
): Hit {
  return { ...textOf(rule, name), path, ...placeOf(place) };
}

/** The parts of a place that are known. */
export function placeOf({ detail, line }: HitPlace): { detail?: string; line?: number } {
  return { ...(detail === undefined ? {} : { detail }), ...(line === undefined ? {} : { line }) };
}

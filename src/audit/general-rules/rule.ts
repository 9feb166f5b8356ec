import type { Severity } from '../../core/types/finding.ts';

/** What a finding of a rule says to a reader. */
export interface RuleText {
  readonly severity: Severity;
  readonly title: string;
  readonly why: string;
}

/** A rule that judges more than the name and content of one file: names, modes, links, bytes, git's own directory. */
export interface GeneralRule extends RuleText {
  /** What it judges. */
  readonly matches: string;
  /** What a user does that runs it. */
  readonly trigger: string;
  readonly source: string;
  /** Findings whose severity, title or reason is more exact than the rule's own. */
  readonly cases?: Readonly<Record<string, Partial<RuleText>>>;
}

/** The title of a finding of a rule that the user configured; its reason is the user's own. */
export const USER_RULE_TITLE = 'Match of one of your rules';

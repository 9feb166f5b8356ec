import type { Change } from '../../core/types/entry.ts';
import type { Severity } from '../../core/types/finding.ts';
import type { BytesChange, TextChange } from '../content/text-change.ts';
import type { Scene } from '../input.ts';
import type { Rule } from '../judges/rule.ts';

/** What a look finds. Without `rule` it is of the only rule that has this look, without `path` at the change's path. */
export interface Found {
  readonly rule?: string;
  /** The case of the rule, where one of its cases says more exactly what it is. */
  readonly case?: string | undefined;
  readonly path?: string;
  readonly detail?: string | undefined;
  /** From 1. */
  readonly line?: number | undefined;
  /** Where one finding of a rule differs from its others. */
  readonly severity?: Severity;
  /** Something was removed: what would be blocked is noted. */
  readonly isRemoval?: boolean;
  /** The rule whose words and severity it has, and whose `case` it is, if another one. */
  readonly wordsOf?: string;
}

/** Other paths of a file, through links. */
export type Aliases = (path: string) => readonly string[];

/** What the looks of each kind are given. */
export interface LookArguments {
  /** The path of a new entry. */
  readonly path: readonly [Scene, Change];
  /** Kind, mode, size, times and links of a changed entry. */
  readonly entry: readonly [Scene, Change];
  /** A change in a git directory, with its path in there. */
  readonly git: readonly [Scene, Change, string];
  readonly bytes: readonly [BytesChange];
  readonly text: readonly [TextChange];
  /** All changes together. */
  readonly together: readonly [Scene, Aliases];
}

export type SeeingLook<Kind extends keyof LookArguments> = {
  readonly kind: Kind;
  readonly see: (...given: LookArguments[Kind]) => readonly Found[];
};

/** A look at one component of a new path. */
export interface NameLook {
  readonly kind: 'name';
  readonly case?: string;
  readonly test: (part: string) => boolean;
  /** Only at the last component of a file's path. */
  readonly filesOnly?: boolean;
}

/**
 * What a rule looks at besides the name and content of one file. Several rules may have the same look, which says of which
 * rule a finding is. `reported`: another part of the audit reports it.
 */
export type GeneralLook =
  | NameLook
  | { readonly kind: 'reported' }
  | { readonly [Kind in keyof LookArguments]: SeeingLook<Kind> }[keyof LookArguments];

/** What a finding of a rule says to a reader. */
export interface RuleText {
  readonly severity: Severity;
  readonly title: string;
  readonly why: string;
}

/** A rule that looks at more than the name and content of one file: names, modes, links, bytes, git's own directory. */
export interface GeneralRule extends Rule<GeneralLook>, RuleText {
  readonly title: string;
  /** What it looks at, for a reader. */
  readonly about: string;
  /** Findings whose severity, title or reason is more exact than the rule's own. */
  readonly cases?: Readonly<Record<string, Partial<RuleText>>>;
}

/** These rules are for every file. */
export const EVERY: readonly string[] = ['*'];

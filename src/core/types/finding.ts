import type { RelPath } from '../text/path.ts';

/** The severities, each with its place in a list, the worst first. */
export const SEVERITY_RANK = { blocked: 0, suspect: 1, note: 2 } as const;

/** blocked: never applied. suspect: needs a yes by name. note: shown, without effect. */
export type Severity = keyof typeof SEVERITY_RANK;

/** A rule that fired on one change. */
export interface Finding {
  readonly rule: string;
  readonly severity: Severity;
  readonly path: RelPath;
  /** Short, in the user's words: 'New git hook', 'Suspect file modified'. */
  readonly title: string;
  /** One sentence: what would run it and why that matters. Cleaned of control characters. */
  readonly why: string;
  /** The key, line or name that matched, cleaned, when one can be shown. */
  readonly detail?: string;
  /** Line in the new content, from 1. */
  readonly line?: number;
}

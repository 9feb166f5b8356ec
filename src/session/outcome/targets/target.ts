import type { Review } from '../../../core/types/review.ts';
import type { ApplyOutcome, ChangeOutcome, SessionRecord } from '../../../core/types/session.ts';
import type { ApplyRequest } from '../../../review/apply/apply-request.ts';

/**
 * What the chosen changes of one session are applied to. A target is one file and one row in targets.ts: the flow of an
 * apply asks it instead of its kind.
 */
export interface Target {
  /**
   * Applies a choice, or in a dry run finds what would become of each change. `review`: the changes that were decided
   * about.
   *
   * @throws {RunClaudeError} what applyChanges throws.
   */
  apply(request: TargetRequest, review: Review): Promise<TargetOutcome>;
  /** Whether it still has a change of an earlier apply, by what became of it then and in a dry run now. */
  has(now: ChangeOutcome, before: ChangeOutcome): boolean;
  readonly words: TargetWords;
}

/** What an apply is asked to do, wherever it applies to. */
export type TargetRequest = Omit<ApplyRequest, 'project' | 'projectIdentity' | 'sessionDir'>;

export interface TargetOutcome {
  readonly outcome: ApplyOutcome;
  /** The outcomes for the session's record, given those of earlier applies. Default: as they are. */
  readonly recorded?: (earlier: readonly ChangeOutcome[]) => readonly ChangeOutcome[];
  /** What follows when the outcome is on record and printed. */
  readonly finish?: (record: SessionRecord) => Promise<void> | void;
}

/** The sentences in which targets differ. */
export interface TargetWords {
  /** Lines before a decision about changes. `isAsked`: the user makes it. Cleaned. */
  readonly before: (isAsked: boolean) => readonly string[];
  /** Where a change was already: 'in the project'. */
  readonly place: string;
  /** Whose version of `count` files in conflict was kept, as a sentence. */
  readonly kept: (count: number) => string;
  /** The command that applies to such a target once more. */
  readonly command: () => string;
}

/** What an `apply` gives its target. */
export interface TargetOptions {
  /** Real path of the folder that the user is in. */
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** The options in targets.ts, by name; '' where one has no value. */
  readonly given: ReadonlyMap<string, string>;
}

import type { RelPath } from '../text/path.ts';
import type { FileSet } from './change/file-set.ts';
import type { Change, ChangeKind, Entry, MaskedEdit, Problem, WithheldGroup } from './entry.ts';
import type { Finding } from './finding.ts';
import type { ChangeOutcome, MadeCommits } from './session.ts';

/**
 * clean: may be applied. suspect: needs its own yes. blocked: shown, never applied. withheld: matched by the base's
 * ignore rules. git: inside a `.git` and without a blocked finding; never applied and no loss (commits are imported).
 */
export type ItemState = 'clean' | 'suspect' | 'blocked' | 'withheld' | 'git';

/** A change as the review shows it. */
export interface ReviewItem {
  readonly change: Change;
  readonly state: ItemState;
  readonly findings: readonly Finding[];
  /** For a created file or link: the deleted path that it most likely was. Both are one decision. */
  readonly renamedFrom?: string;
  /** With {@link renamedFrom}: in percent; 100 for the same content. */
  readonly similarity?: number;
  /** With {@link renamedFrom}: what the old name held. */
  readonly renamedEntry?: Entry;
  /** For a deleted path: the new name, next to which it is shown. */
  readonly renamedTo?: string;
  /** For a file that a link or a folder replaced: the withheld path that has its content. */
  readonly contentIn?: string;
  /** For a withheld change that the session un-ignores: what the audit says of it. It can be taken with its group. */
  readonly unignored?: 'clean' | 'suspect';
}

/** Changes that are applied together or not at all. */
export interface Decision {
  /** The change that a question names: the new name of a rename, the folder that became a file. */
  readonly lead: ReviewItem;
  /** In path order, with the lead. */
  readonly items: readonly ReviewItem[];
  /** The worst of its changes: blocked, withheld (`git` too), suspect, clean. */
  readonly state: Exclude<ItemState, 'git'>;
  /** Withheld only because of files that the session un-ignores: it can be taken with their group. */
  readonly isUnignored: boolean;
  /** The one thing that its files are, where they are one. */
  readonly set?: FileSet;
}

/** Claude's own data next to the workspace's changes; its paths begin with `~/.claude/`. */
export interface ClaudeReview {
  /** clean: comes back with the rest. suspect: needs its own yes. blocked: what was tried, shown and nothing more. */
  readonly items: readonly ReviewItem[];
  /** Findings on paths that no item has. */
  readonly general: readonly Finding[];
  /** Records of conversations that stay out, by kind. */
  readonly dropped: Readonly<Record<string, number>>;
}

export interface Review {
  readonly items: readonly ReviewItem[];
  /** Every item but those of state `git` that nothing else hangs together with, in the order of their leads. */
  readonly decisions: readonly Decision[];
  /** Findings on paths that no change has. */
  readonly general: readonly Finding[];
  readonly problems: readonly Problem[];
  readonly withheld: readonly WithheldGroup[];
  /** Undefined: none. */
  readonly maskedEdits?: readonly MaskedEdit[];
  /** Files and links, outside `.git` and what is withheld. */
  readonly counts: FileCounts;
  /** Withheld files that were not compared with the deleted ones. */
  readonly uncompared: number;
  /** More than half of the project, and more than 20 entries, are deleted: never applied without a question. */
  readonly massDeletion: { readonly deleted: number; readonly of: number } | undefined;
  /** The audit was not done yet, and every change is blocked until it is. */
  readonly isUnaudited: boolean;
  readonly claude?: ClaudeReview;
  /** The session's commits, by repository. Undefined where they were not listed. */
  readonly commits?: readonly MadeCommits[];
}

/** Numbers of files and links. A rename counts once, as renamed. */
export type FileCounts = Readonly<Record<ChangeKind | 'renamed', number>>;

/** A change that may be applied. */
export interface ChosenChange {
  readonly change: Change;
  /** Bytes to apply instead of the session's: some hunks only, or edited by the user. */
  readonly content?: Buffer;
  /** Chosen by name although suspect: it is applied after the rest. */
  readonly suspect?: boolean;
  /** Names the decision that it belongs to, where that has several changes: all of them are applied, or none. */
  readonly together?: string;
}

/** The decision of the user, or of the policy, on a review. */
export interface Choice {
  /** false: nothing was decided, all changes wait (exit 120). */
  readonly decided: boolean;
  /** The whole word `discard`. */
  readonly discard: boolean;
  readonly chosen: readonly ChosenChange[];
  /** Folders that the session made and that may be: made when something chosen goes into them. */
  readonly folders: readonly Change[];
  /** Suspects of Claude's data that were accepted by name. */
  readonly claude?: readonly RelPath[];
  /** What is not applied, and why. Entries of `.git` without a blocked finding are not listed. */
  readonly left: readonly ChangeOutcome[];
}

import type { ContentStore } from '../../core/store/content.ts';
import type { Conflict, ConflictAnswer, ConflictRule, Merged } from '../../core/types/change/conflict.ts';
import type { Change, Digest, Entry, LeftMember } from '../../core/types/entry.ts';
import type { Tell } from '../../core/types/event.ts';
import type { Finding } from '../../core/types/finding.ts';
import type { Choice, ChosenChange } from '../../core/types/review.ts';
import type { Decision } from './decide.ts';
import type { HostState } from './disk/host/host-entry.ts';
import type { HostNames } from './disk/host/host-names.ts';
import type { HostWalker } from './disk/host/host-path.ts';
import type { OtherMember } from './disk/journal/journal-format.ts';
import type { EarlierApplies } from './earlier-applies.ts';

export interface ApplyRequest {
  /** Real path of the project. */
  readonly project: string;
  /** ':inode' of the project when the session began; refused when it is another now. */
  readonly projectIdentity?: string;
  readonly sessionDir: string;
  readonly choice: Choice;
  /** Of things in several files, those that the session left as they were. */
  readonly leftMembers?: readonly LeftMember[];
  /** The session's frozen store: what is written comes from it, pre-images go into it. */
  readonly store: ContentStore;
  /** The umask of the session's programs; undefined for the usual one. */
  readonly sessionUmask?: number | undefined;
  readonly conflict: ConflictRule;
  /** With the rule 'keep': asks what becomes of a conflict. Undefined: nobody is asked. */
  readonly askConflict?: (conflict: Conflict) => Promise<ConflictAnswer>;
  readonly dryRun: boolean;
  readonly tell: Tell;
  /** Interrupts between two paths; what is done stays done and undoable, the rest stays pending. */
  readonly signal?: AbortSignal;
  /** Findings on new bytes (a merge, chosen parts): the audit again. A blocked or suspect one holds them back. */
  readonly audit: (
    change: Change,
    contents: ReadonlyMap<Digest, Buffer>,
  ) => Promise<readonly Finding[]> | readonly Finding[];
  /** Shows a merge that audits clean and asks; --yes and --auto-apply answer true. */
  readonly acceptMerge: (merge: Merged) => Promise<boolean>;
}

/** The rule for each conflict of one apply: that of the command line, or what the user answers. */
export interface ConflictRules {
  ruleFor(conflict: Conflict): Promise<ConflictRule>;
  /** Gives a path the rule that was found for another one, with which it is one thing, and what could be chosen there. */
  set(path: string, rule: ConflictRule, like: Conflict): void;
  /** The paths that got this rule. */
  readonly chosen: ReadonlyMap<string, ConflictRule>;
  /** What decides the conflict at a path, apart from keeping the host's version; undefined where there was no conflict. */
  waysAt(path: string): readonly ConflictRule[] | undefined;
}

/** What preparing needs besides the request. */
export interface Preparing {
  readonly request: ApplyRequest;
  readonly walker: HostWalker;
  /** Undo: entries are the host's own, with their times and owners. */
  readonly trusted: boolean;
  /** Undo: the other files of things in several files, as the apply left them. Undefined where that is not known. */
  readonly others?: readonly OtherMember[] | undefined;
}

/** What the decision about every change looks up. */
export interface Lookups extends Preparing {
  readonly byPath: ReadonlyMap<string, ChosenChange>;
  /** Deleted paths by {@link foldCase}. */
  readonly deletedByFold: ReadonlyMap<string, string>;
  /** The first of the created paths with this {@link foldCase}. */
  readonly createdByFold: ReadonlyMap<string, string>;
  readonly names: HostNames;
  readonly rules: ConflictRules;
  readonly earlier: EarlierApplies;
}

/** What becomes of one change, and why. */
export interface Decided {
  readonly one: ChosenChange;
  readonly session: Entry | undefined;
  readonly host: HostState | undefined;
  readonly decision: Decision;
}

import type { RelPath } from '../text/path.ts';
import type { ClaudeData, ClaudeOutcome } from './agent/claude-data.ts';
import type { ConflictRule } from './change/conflict.ts';
import type { Collected } from './entry.ts';
import type { Finding } from './finding.ts';
import type { Plan } from './plan.ts';
import type { TestResult } from './test.ts';

/**
 * How far a session came. planned: nothing ran. running: its agent was started. ended: its agent ended, nothing is
 * collected. pending: its changes are frozen, and some of them were not decided about. failed: its agent never ran.
 */
export type Stage = 'planned' | 'running' | 'ended' | 'pending' | 'applied' | 'discarded' | 'failed';

/** session.json: what any later command needs to pick up from where the session is. */
export interface SessionRecord {
  readonly version: 1;
  readonly id: string;
  readonly project: string;
  readonly stage: Stage;
  /** ISO 8601. */
  readonly started: string;
  readonly updated: string;
  readonly plan: Plan;
  /** The process that runs it; a later command checks whether that process still exists. */
  readonly owner?: ProcessIdentity;
  /** When its agent was last started; ISO 8601. */
  readonly agentStarted?: string;
  /** Milliseconds that its agent ran, over all runs that came to their end. */
  readonly agentMs?: number;
  readonly agentStatus?: number;
  /** Why run-claude stopped the agent, when it did. */
  readonly stoppedBecause?: string;
  /** Of a session whose agent never ran. Earlier releases did not record it. */
  readonly failure?: StartFailure;
  readonly outcome?: ApplyOutcome;
  readonly note?: string;
  /** What the workspace room needs to reopen the layer; no other room reads it. */
  readonly workspace?: unknown;
  readonly usage?: UsageTotals;
  /** Bind mode, where the project has a `.git`: the session's own repository. */
  readonly bound?: BoundGit;
  /** Of a session that `import` made from a change set: what the file says of where it came from. */
  readonly imported?: ImportedFrom;
  /** The commits that were made in it, by repository, as listed at its end. Undefined where they were not listed. */
  readonly commits?: readonly MadeCommits[];
  /** The verdicts of the user's tests on its result, at the end of its last run. Undefined: none was run. */
  readonly tests?: readonly TestResult[];
  /** Branches that `apply --branch` made, the oldest first. */
  readonly branches?: readonly MadeBranch[];
}

/** Commits of a session in one repository, as the session's own git names them: not cleaned for the terminal. */
export interface MadeCommits {
  /** Its work tree, from the project; '' for the project's own. */
  readonly repository: string;
  readonly count: number;
  /** First lines of the newest, the newest first. */
  readonly titles: readonly string[];
  /** What `commits --import` made of them. Undefined: it was not asked, or its question was not answered by yes. */
  readonly taken?: 'imported' | 'refused';
}

/** Why the start of a session failed. */
export interface StartFailure {
  /** As in docs/reference/error-codes.md. */
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
}

/** A branch of the user's repository with the changes of a session. */
export interface MadeBranch {
  readonly name: string;
  readonly commit: string;
  /** As {@link ApplyOutcome.at} of the apply that made it. */
  readonly at: string;
  /** The remote that it was pushed to. */
  readonly pushedTo?: string;
}

/** The checked origin of an imported session. For display only. */
export interface ImportedFrom {
  /** Id of the session where it was exported. */
  readonly session: string;
  /** Release of run-claude that exported it. */
  readonly tool: string;
  /** ISO 8601. */
  readonly exported: string;
}

/** What is known of a bind session's own repository. */
export interface BoundGit {
  /** Mounted object directories of the user's repository that it borrows from. */
  readonly objects: readonly string[];
  /** What its refs looked like at the start. */
  readonly refs: string;
  /** After its end: whether commits were made in it. */
  readonly commits?: boolean;
}

export interface ProcessIdentity {
  readonly pid: number;
  /** In the kernel's unit on Linux. 'unknown' on macOS; earlier releases wrote the local text of ps there. */
  readonly started: string;
  /** ISO 8601, on macOS: the system tells start times as times of the day only. */
  readonly startedAt?: string;
  readonly bootId: string;
  /** The host's name and, on Linux, the PID namespace. */
  readonly host: string;
  /** Of the machine, whatever its name is. Earlier releases did not write it. */
  readonly machine?: string;
}

export interface UsageTotals {
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
}

/** `manifest` next to session.json. */
export interface CollectedRecord extends Collected {
  readonly version: 1;
  readonly findings: readonly Finding[];
  /**
   * Given while the changes are not audited, and each of them is blocked for that reason: the end of the session, in
   * nanoseconds.
   */
  readonly unaudited?: string;
  /** Given while the judging of a change failed: a later release judges the changes again. */
  readonly unjudged?: {
    /** The release of run-claude that failed. */
    readonly by: string;
    /** As in `unaudited`. */
    readonly endedNs: string;
  };
  /** Absent where nothing of Claude's was staged or could be collected. */
  readonly claude?: ClaudeData;
}

export type ChangeVerdict = 'applied' | 'same' | 'conflict' | 'blocked' | 'suspect' | 'withheld' | 'skipped' | 'failed';

/** The outcome of one change. */
export interface ChangeOutcome {
  readonly path: RelPath;
  readonly verdict: ChangeVerdict;
  readonly why?: string;
  /** The thing in several files that it is about: 'SQLite database app.db'. Not cleaned. */
  readonly thing?: string;
  /** Of a conflict: the values of --conflict that decide it. */
  readonly ways?: readonly ConflictRule[];
}

export interface ApplyOutcome {
  readonly changes: readonly ChangeOutcome[];
  /** Of Claude's own data. */
  readonly claude?: readonly ClaudeOutcome[];
  /** ISO 8601. */
  readonly at: string;
}

import type { Plan } from '../../core/types/plan.ts';
import type { Choice, Review } from '../../core/types/review.ts';
import type { ApplyOutcome, SessionRecord } from '../../core/types/session.ts';
import type { MaskGuard } from '../../workspace/bind/session.ts';
import type { Workspace } from '../../workspace/view/workspace.ts';
import type { AgentEnd } from '../launch/agent-run.ts';
import type { TargetOutcome } from '../outcome/targets/target.ts';
import type { SessionDeps, UserDeps } from '../stage/deps.ts';
import type { AgentView, ViewParts } from '../stage/stage.ts';

/**
 * What a session does in one mode, stage by stage; the stages that all modes share are in session/run.ts. A mode is one
 * file and one row in modes.ts.
 */
export interface SessionMode {
  /** Makes the agent's view of the project. What has to be closed is kept in the cleanup group. */
  open(plan: Plan, deps: SessionDeps, parts: ViewParts): Promise<SessionView>;
  /** The view of an agent that ran before, by its session's record; undefined where it never had one. */
  reopen(record: SessionRecord, plan: Plan, deps: SessionDeps, parts: ViewParts): Promise<SessionView | undefined>;
  /** Asks the user, or decides by the policy. Nothing is applied yet. */
  decide(collected: CollectedSession, agent: AgentEnd, deps: UserDeps): Promise<DecidedSession>;
  /** Carries the decision out. */
  apply(decided: DecidedSession, deps: UserDeps): Promise<DecidedSession>;
  /** Reports what became of the session, on the terminal and in its files. Returns the exit status. */
  end(decided: DecidedSession, agent: AgentEnd, deps: UserDeps): Promise<number>;
  /** A warning for a session that ended before its changes were collected; undefined where there is no danger. */
  uncollectedWarning?(record: SessionRecord): string;
}

/** The agent's view of the project, and how its changes are read. */
export interface SessionView extends AgentView {
  /** For the session's record: with it a later command can reopen the view. */
  readonly recorded: Pick<SessionRecord, 'workspace' | 'bound'>;
  /** Counts what the agent writes and holds it to the limit; undefined where it writes to the user's own files. */
  readonly disk?: Pick<Workspace, 'watchDisk' | 'watchChanges' | 'isOnThisMachine'>;
  /** Watches what is masked in the user's own files; undefined where nothing is. */
  readonly guard?: MaskGuard | undefined;
  /** Work that the end of the session needs, done while the agent runs. A failure stops the agent. */
  readonly whileRunning?: () => Promise<unknown>;
  /**
   * Freezes and audits what the agent changed. Both are on record before anything is shown. `secrets` gives credentials
   * that were inside: nothing that holds one comes back. Without `isAudited` a copy is only frozen, and the command that
   * needs its audit starts it. Precondition: the last writer has ended.
   */
  collect(
    record: SessionRecord,
    secrets: () => Promise<readonly string[]>,
    options: { readonly isAudited: boolean },
  ): Promise<CollectedSession>;
}

/** A session whose changes are frozen. */
export interface CollectedSession {
  readonly record: SessionRecord;
  /** What there is to decide about, as the project is now. */
  readonly review: () => Promise<ReviewedSession>;
  /** Changes in the project that were put back or moved to quarantine, or are lost. */
  readonly heldBack: number;
  /** Of the folders besides the project. */
  readonly beside?: readonly CollectedSession[] | undefined;
}

export interface ReviewedSession {
  /** All that the session changed. */
  readonly whole: Review;
  /** What of it the project does not have. */
  readonly review: Review;
}

/** A session with a decision on its changes. */
export interface DecidedSession extends ReviewedSession {
  readonly record: SessionRecord;
  readonly choice: Choice;
  readonly heldBack: number;
  /** What became of the choice; undefined until it is applied, and where nothing is. */
  readonly outcome?: ApplyOutcome;
  /** What the target of an apply does at the end. */
  readonly finish?: NonNullable<TargetOutcome['finish']>;
  /** Why the choice could not be carried out, of a folder besides the project. */
  readonly failure?: unknown;
  /** Of the folders besides the project. */
  readonly beside?: readonly DecidedSession[] | undefined;
}

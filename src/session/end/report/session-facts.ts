import type { Severity } from '../../../core/types/finding.ts';
import type { Review } from '../../../core/types/review.ts';
import type { SessionRecord } from '../../../core/types/session.ts';
import { countSuspectClaudeFiles } from '../../../review/choices/claude-items.ts';
import { countProgress, fileProgress, type ProgressCounts } from '../../../review/choices/file-progress.ts';
import { findingsOf } from '../../../review/choices/findings.ts';
import { madeCommits } from '../../../review/choices/policy.ts';
import { ownerState, wasCollected } from '../../record/session.ts';
import { reviewOf } from '../frozen-review.ts';
import { filesInPlace } from './in-place-counts.ts';
import { readOwnReportForList } from './own-report.ts';

/**
 * The state of a session, as listings show it. in-place: a bind session, whose changes are in the project already. blocked: all that it
 * changed is blocked. unchanged: it changed nothing that could be applied. not-audited-yet: its
 * changes are frozen, and `diff`, `apply` or a report audits them.
 */
export type SessionState =
  | 'running'
  | 'interrupted'
  | 'pending'
  | 'not-audited-yet'
  | 'partly-applied'
  | 'applied'
  | 'in-place'
  | 'blocked'
  | 'unchanged'
  | 'discarded'
  | 'failed';

/** What listings show of a session. */
export interface SessionFacts {
  readonly state: SessionState;
  /** Undefined where nothing was collected: it runs, it was interrupted, or it failed. */
  readonly files: ProgressCounts | undefined;
  readonly findings: Readonly<Record<Severity, number>>;
  /** Paths that have such a finding. */
  readonly paths: Readonly<Record<'blocked' | 'suspect', number>>;
  /** The agent made commits. */
  readonly hasCommits: boolean;
  /** Number of entries that ignore rules matched. */
  readonly ignored: number;
}

/** Whether a session has nothing that a listing needs to show: no file, no commit, no ignored output, no finding. */
export function isEmpty({ state, hasCommits, ignored, findings }: SessionFacts): boolean {
  return state === 'unchanged' && !hasCommits && ignored === 0 && findings.blocked + findings.suspect === 0;
}

/** The facts of a session, from what was frozen of it. */
export function sessionFacts(record: SessionRecord): SessionFacts {
  const none = { files: undefined, ...foundIn([]), hasCommits: false, ignored: 0 };
  const { stage, plan } = record;
  if (stage === 'failed') return { ...none, state: 'failed' };
  const isDecided = stage === 'pending' || stage === 'applied' || stage === 'discarded';
  if (!isDecided) return { ...none, state: ownerState(record) === 'ended' ? 'interrupted' : 'running' };
  if (plan.mode === 'bind') return boundFacts(record);
  if (!wasCollected(plan.sessionDir)) return { ...none, state: stage === 'pending' ? 'pending' : 'discarded' };
  const review = reviewOf(record);
  const files = countProgress(fileProgress(review, record.outcome?.changes ?? []));
  const isAudited = !review.isUnaudited || stage === 'discarded';
  return {
    state: isAudited ? copyState(record, files, isClaudeDataPending(record, review)) : 'not-audited-yet',
    files,
    ...foundIn(review.isUnaudited ? [] : findingsOf(review)),
    hasCommits: madeCommits(review),
    ignored: ignoredEntries(review.withheld) + changedIgnored(review),
  };
}

const ignoredEntries = (groups: Review['withheld']): number => groups.reduce((sum, { entries }) => sum + entries, 0);

/** Ignored files that the project has, which the groups of new output do not count. */
function changedIgnored({ items }: Review): number {
  return items.filter(
    ({ state, unignored, change }) => state === 'withheld' && unignored === undefined && change.kind !== 'created',
  ).length;
}

function foundIn(
  found: readonly { readonly severity: Severity; readonly path: string }[],
): Pick<SessionFacts, 'findings' | 'paths'> {
  const of = (wanted: Severity) => found.filter(({ severity }) => severity === wanted);
  const pathsOf = (wanted: Severity): number => new Set(of(wanted).map(({ path }) => path)).size;
  return {
    findings: { blocked: of('blocked').length, suspect: of('suspect').length, note: of('note').length },
    paths: { blocked: pathsOf('blocked'), suspect: pathsOf('suspect') },
  };
}

/** Whether a file of Claude's data needs an answer, or a session without a decision has conversations to bring back. */
function isClaudeDataPending({ outcome }: SessionRecord, review: Review): boolean {
  return countSuspectClaudeFiles(review) > 0 || (outcome === undefined && (review.claude?.items ?? []).length > 0);
}

function copyState({ stage }: SessionRecord, files: ProgressCounts, isClaudePending: boolean): SessionState {
  if (stage === 'discarded') return 'discarded';
  if (files.left > 0 || (stage === 'pending' && isClaudePending))
    return files.applied + files.inPart > 0 ? 'partly-applied' : 'pending';
  if (files.applied > 0) return 'applied';
  return files.blocked > 0 ? 'blocked' : 'unchanged';
}

/** A bind session's changes are not kept; its own report has their number. */
function boundFacts({ stage, plan, bound, commits }: SessionRecord): SessionFacts {
  const report = readOwnReportForList(plan.sessionDir);
  const files = report && filesInPlace(report);
  const isDecidedLater = stage === 'pending' || stage === 'discarded';
  const state = isDecidedLater ? stage : files?.total === 0 ? 'unchanged' : 'in-place';
  return {
    state,
    files,
    ...foundIn(report?.findings ?? []),
    hasCommits: commits === undefined ? bound?.commits === true : commits.length > 0,
    ignored: ignoredEntries(report?.withheld ?? []),
  };
}

import { whenText } from '../../core/text/when.ts';
import type { ApplyOutcome, SessionRecord } from '../../core/types/session.ts';
import { countSuspectClaudeFiles } from '../../review/choices/claude-items.ts';
import {
  countProgress,
  type FileProgress,
  fileProgress,
  IN_PART,
  joinOutcomes,
} from '../../review/choices/file-progress.ts';
import { chooseClean, isSelectable, type PathFilter } from '../../review/choices/policy.ts';
import { progressLine } from '../../review/screen/outcome-lines.ts';
import { auditIfMissing, reviewOf } from '../end/frozen-review.ts';
import { requireChanges } from '../record/require-usable.ts';
import type { UserDeps } from '../stage/deps.ts';
import { type ApplyOptions, applyChoice } from './apply-choice.ts';
import { decideSession } from './decide-session.ts';
import { endDryRun } from './dry-run.ts';
import { endSession } from './end-session.ts';
import { reviewRemaining } from './remaining-changes.ts';
import { openFiles } from './targets/files.ts';
import type { Target } from './targets/target.ts';
import { unmatchedLines } from './unmatched.ts';

export interface ApplyPendingOptions extends ApplyOptions {
  readonly filter: PathFilter;
  /** As `--include-ignored`: withheld files that are stored with the session are applied too. */
  readonly release?: boolean | readonly string[];
}

/** The result of an `apply`; without an outcome when nothing was decided. */
export interface ApplyResult {
  readonly status: number;
  /** Every path of the session; a path that an earlier apply brought is 'same'. */
  readonly outcome?: ApplyOutcome;
}

/**
 * `apply`: asks about the changes that the target does not have yet; with --yes, --only or --skip it applies the clean ones
 * of them. A dry run changes nothing.
 *
 * @throws {RunClaudeError} what requireChanges, auditIfMissing and applyChoice throw.
 */
export async function applyPending(
  record: SessionRecord,
  deps: UserDeps,
  options: ApplyPendingOptions,
  target: Target = openFiles(record, deps),
): Promise<ApplyResult> {
  requireChanges(record);
  await auditIfMissing(record, deps);
  const allowed = withAllowed(record, options.allowSuspect ?? []);
  const remaining = () => reviewRemaining(target, allowed, deps, options.release);
  const { whole, review, appliedBefore } = await remaining();
  const parts = record.outcome?.changes.filter(({ why }) => why === IN_PART) ?? [];
  if (appliedBefore.length + parts.length > 0)
    printProgress(fileProgress(whole, [...appliedBefore, ...parts]), record, deps);
  for (const text of unmatchedLines(options, { review, withoutRelease: reviewOf(record) }))
    deps.tell({ kind: 'message', level: 'warning', text });
  const isFiltered = options.filter.only.length > 0 || options.filter.skip.length > 0;
  const hasOpen = review.items.some(isSelectable) || review.decisions.some(({ isUnignored }) => isUnignored);
  const isComplete = appliedBefore.length > 0 && !hasOpen && countSuspectClaudeFiles(review) === 0;
  const isAsked = !options.yes && !options.dryRun && !isFiltered && !isComplete;
  if (hasOpen) for (const text of target.words.before(isAsked)) deps.tell({ kind: 'message', level: 'info', text });
  const asked = { ...allowed, plan: withoutAutoApply(allowed) };
  const reviewed = { whole, review };
  const decision = isAsked
    ? await decideSession({ record: asked, reviewed, again: remaining, isEnd: false, isStopped: false }, deps)
    : { ...reviewed, choice: chooseClean(review, options.filter) };
  const decided = { record, target, ...decision };
  const { choice } = decision;
  const end = { ...decided, agent: { status: 0, stopReason: undefined, isEarlier: true as const }, isAsked };
  if (choice.discard || !choice.decided) return { status: await endSession(end, deps) };
  const applied = await applyChoice(decided, deps, options);
  const { outcome } = applied;
  const status = options.dryRun
    ? endDryRun({ ...decided, outcome }, deps)
    : await endSession({ ...end, ...applied }, deps);
  return { status, outcome: { ...outcome, changes: joinOutcomes(appliedBefore, outcome.changes) } };
}

/** Prints what earlier applies did, before anything is asked. */
function printProgress(files: readonly FileProgress[], { id, outcome }: SessionRecord, { tell }: UserDeps): void {
  const counts = countProgress(files);
  if (counts.total === 0) return;
  const when = outcome && whenText(outcome.at, Date.now());
  const text = counts.left === 0 ? `Nothing of session ${id} is left to apply` : `Session ${id}`;
  tell({ kind: 'message', level: 'info', text: `${text}: ${progressLine(counts, when)}.` });
}

/** The record with a policy by which suspect changes of these paths count as clean; it is for one command only. */
function withAllowed(record: SessionRecord, globs: readonly string[]): SessionRecord {
  const { plan } = record;
  const allowSuspect = [...plan.policy.allowSuspect, ...globs];
  return { ...record, plan: { ...plan, policy: { ...plan.policy, allowSuspect } } };
}

/** A user who types `apply` is asked, whatever policy the session was started with. */
function withoutAutoApply({ plan }: SessionRecord): SessionRecord['plan'] {
  return { ...plan, policy: { ...plan.policy, autoApply: false } };
}

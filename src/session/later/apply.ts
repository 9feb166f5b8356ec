import { openContentStore } from '../../core/store/content.ts';
import { whenText } from '../../core/text/when.ts';
import type { ApplyOutcome, SessionRecord } from '../../core/types/session.ts';
import { readJournals } from '../../review/apply/disk/journal.ts';
import { recoverApply } from '../../review/apply/recover.ts';
import { countSuspectClaudeFiles } from '../../review/choices/claude-items.ts';
import {
  countProgress,
  type FileProgress,
  fileProgress,
  IN_PART,
  joinOutcomes,
} from '../../review/choices/file-progress.ts';
import { chooseClean, isSelectable, type PathFilter } from '../../review/choices/policy.ts';
import {
  type GitWords,
  gitWords,
  joinAdvice,
  mergeCommand,
  type OpenCommits,
  unmergedImports,
} from '../../review/commits/taken-twice.ts';
import { progressLine } from '../../review/screen/outcome-lines.ts';
import { cleanLine } from '../../terminal/clean.ts';
import { type ApplyOptions, applySession } from '../end/apply-session.ts';
import { auditIfMissing } from '../end/audit-collected.ts';
import { endDryRun } from '../end/dry-run.ts';
import { endSession } from '../end/end-session.ts';
import { reviewOf } from '../end/frozen-review.ts';
import { outcomeAfterUndo, reviewRemaining } from '../end/remaining-changes.ts';
import { decideSession } from '../end/review-session.ts';
import { requireChanges } from '../record/require-usable.ts';
import { storeDir, updateRecord } from '../record/session.ts';
import type { UserDeps } from '../stage/deps.ts';
import { repositoriesWithCommits } from './session-commits.ts';
import { unmatchedLines } from './unmatched.ts';

/**
 * Finishes or undoes an apply that was interrupted, and reports that. To be called before anything else is done with a
 * session. Returns the record with the outcome.
 */
export async function finishApply(record: SessionRecord, deps: Pick<UserDeps, 'tell'>): Promise<SessionRecord> {
  const { plan } = record;
  const finished = await recoverApply({
    project: plan.project.root,
    sessionDir: plan.sessionDir,
    store: openContentStore(storeDir(plan.sessionDir)),
    tell: deps.tell,
    ...(['pending', 'applied'].includes(record.stage) && { recordedAt: record.outcome?.at ?? '' }),
  });
  if (finished === undefined || finished.changes.length === 0) return record;
  if (readJournals(plan.sessionDir).at(-1)?.head.kind === 'undo') {
    return updateRecord(record, { stage: 'pending', outcome: outcomeAfterUndo(record.outcome, finished) });
  }
  const outcome = { ...finished, changes: joinOutcomes(record.outcome?.changes ?? [], finished.changes) };
  const { left } = countProgress(fileProgress(reviewOf(record), outcome.changes));
  return updateRecord(record, { stage: left > 0 ? 'pending' : 'applied', outcome });
}

export interface ApplyPendingOptions extends ApplyOptions {
  readonly filter: PathFilter;
  /** As `--include-ignored`: withheld files that are stored with the session are applied too. */
  readonly release?: boolean | readonly string[];
  /** Real path of the folder that the user is in, for commands to paste. Default: the project. */
  readonly cwd?: string;
}

/** The result of an `apply`; without an outcome when nothing was decided. */
export interface ApplyResult {
  readonly status: number;
  /** Every path of the session; a path that an earlier apply brought is 'same'. */
  readonly outcome?: ApplyOutcome;
}

/**
 * `apply`: asks about the changes that were not applied yet; with --yes, --only or --skip it applies the clean ones of
 * them. A dry run changes nothing.
 *
 * @throws {RunClaudeError} what requireChanges, auditIfMissing and applySession throw.
 */
export async function applyPending(
  record: SessionRecord,
  deps: UserDeps,
  options: ApplyPendingOptions,
): Promise<ApplyResult> {
  requireChanges(record);
  await auditIfMissing(record, deps);
  const allowed = withAllowed(record, options.allowSuspect ?? []);
  const { whole, review, appliedBefore } = await reviewRemaining(allowed, deps, options.release);
  const parts = record.outcome?.changes.filter(({ why }) => why === IN_PART) ?? [];
  if (appliedBefore.length + parts.length > 0)
    printProgress(fileProgress(whole, [...appliedBefore, ...parts]), record, deps);
  for (const text of unmatchedLines(options, { review, withoutRelease: reviewOf(record) }))
    deps.tell({ kind: 'message', level: 'warning', text });
  const imported = unmergedImports(repositoriesWithCommits(record), record.id);
  const git = gitWords(record.project, options.cwd ?? record.project);
  const isFiltered = options.filter.only.length > 0 || options.filter.skip.length > 0;
  const hasOpen = review.items.some(isSelectable) || review.decisions.some(({ isUnignored }) => isUnignored);
  const isComplete = appliedBefore.length > 0 && !hasOpen && countSuspectClaudeFiles(review) === 0;
  const isAsked = !options.yes && !options.dryRun && !isFiltered && !isComplete;
  if (hasOpen) for (const one of imported) tellImported(one, git, deps);
  const choice = isAsked
    ? await decideSession({ ...allowed, plan: withoutAutoApply(allowed) }, review, deps, false)
    : chooseClean(review, options.filter);
  const end = { record, review, whole, choice, agent: { status: 0, stopReason: undefined }, isAsked };
  if (choice.discard || !choice.decided) return { status: await endSession(end, deps) };
  const { record: now, outcome } = await applySession(record, choice, deps, options);
  const all = { ...outcome, changes: joinOutcomes(appliedBefore, outcome.changes) };
  if (!options.dryRun) {
    const status = await endSession({ ...end, record: now, outcome }, deps);
    if (outcome.changes.some((one) => one.verdict === 'applied')) tellJoins(record, imported, git, deps);
    return { status, outcome: all };
  }
  return { status: endDryRun(record, { review, whole, outcome }, deps), outcome: all };
}

/** A session is taken as files or as commits: who took the commits before learns that the files are the same work. */
function tellImported(commits: OpenCommits, git: GitWords, { tell }: UserDeps): void {
  const merge = mergeCommand(commits, git);
  const text = `The commits of this session were imported as ${commits.name} and bring its files too. To take them instead: ${merge}`;
  tell({ kind: 'message', level: 'info', text: cleanLine(text) });
}

/** How to join the files that were applied with commits that were imported before. */
function tellJoins(
  { id: sessionId }: SessionRecord,
  commits: readonly OpenCommits[],
  git: GitWords,
  { tell }: UserDeps,
): void {
  if (commits.length === 0) return;
  for (const text of joinAdvice({ sessionId, commits, git, canUndo: true }))
    tell({ kind: 'message', level: 'info', text: cleanLine(text) });
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
export function withAllowed(record: SessionRecord, globs: readonly string[]): SessionRecord {
  const { plan } = record;
  const allowSuspect = [...plan.policy.allowSuspect, ...globs];
  return { ...record, plan: { ...plan, policy: { ...plan.policy, allowSuspect } } };
}

/** A user who types `apply` is asked, whatever policy the session was started with. */
export function withoutAutoApply({ plan }: SessionRecord): SessionRecord['plan'] {
  return { ...plan, policy: { ...plan.policy, autoApply: false } };
}

import type { Merged } from '../../apply/apply-changes.ts';
import { readJournals } from '../../apply/disk/journal.ts';
import { recoverApply } from '../../apply/recover.ts';
import { undoApply } from '../../apply/undo.ts';
import { EXIT, RunClaudeError, usageError } from '../../errors.ts';
import { withLayerLock } from '../../record/layer-lock.ts';
import { ownerState, storeDir, updateRecord } from '../../record/session.ts';
import { countProgress, type FileProgress, fileProgress, IN_PART, joinOutcomes } from '../../review/file-progress.ts';
import { chooseClean, isSelectable, outcomeCounts, type PathFilter } from '../../review/policy.ts';
import { openContentStore } from '../../store/content.ts';
import { askLine, isYes } from '../../terminal/ask.ts';
import { amount } from '../../terminal/progress.ts';
import { askMerge } from '../../terminal/review/ask-merge.ts';
import { resultLine, standingLine } from '../../terminal/review/outcome-lines.ts';
import { whenText } from '../../text/when.ts';
import type { ApplyOutcome, SessionRecord } from '../../types/session.ts';
import { dropLayer } from '../../workspace/drop-layer.ts';
import { type ApplyOptions, applySession } from '../end/apply-session.ts';
import { claudeWaiting } from '../end/claude-data.ts';
import { endSession } from '../end/end-session.ts';
import { outcomeAfterUndo, reviewLeft } from '../end/left-changes.ts';
import { decideSession, reviewOf } from '../end/review-session.ts';
import type { PersonDeps } from '../start/deps.ts';

/**
 * Finishes or undoes an apply that ended in the middle, and says so; to be called before anything else is done. Returns
 * the record with what that came to.
 */
export async function finishApply(record: SessionRecord, deps: PersonDeps): Promise<SessionRecord> {
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

export interface LaterOptions extends ApplyOptions {
  readonly filter: PathFilter;
  /** As `--include-ignored`: withheld files that were kept with the session come too. */
  readonly release?: boolean | readonly string[];
}

/** What an `apply` came to; no outcome when nothing was decided. */
export interface Later {
  readonly status: number;
  /** Every path of the session; what earlier applies brought is 'same'. */
  readonly outcome?: ApplyOutcome;
}

/**
 * `apply`: the question again about what is left, or with --yes, --only or --skip what is clean of it. A dry run changes
 * nothing.
 */
export async function applyLater(record: SessionRecord, deps: PersonDeps, options: LaterOptions): Promise<Later> {
  requireSettled(record);
  const judged = withAllowed(record, options.allowSuspect ?? []);
  const { whole, review, before } = await reviewLeft(judged, deps, options.release);
  const parts = record.outcome?.changes.filter(({ why }) => why === IN_PART) ?? [];
  if (before.length + parts.length > 0) sayStanding(fileProgress(whole, [...before, ...parts]), record, deps);
  const filtered = options.filter.only.length > 0 || options.filter.skip.length > 0;
  const isOpen = review.items.some(isSelectable) || review.decisions.some(({ isUnignored }) => isUnignored);
  const isOver = before.length > 0 && !isOpen && claudeWaiting(review) === 0;
  const isAsked = !options.yes && !options.dryRun && !filtered && !isOver;
  const choice = isAsked
    ? await decideSession({ ...judged, plan: withoutAutoApply(judged) }, review, deps, false)
    : chooseClean(review, options.filter);
  const end = { record, review, whole, choice, agent: { status: 0, stopped: undefined }, isAsked };
  if (choice.discard || !choice.decided) return { status: await endSession(end, deps) };
  const { record: now, outcome } = await applySession(record, choice, deps, options);
  const all = { ...outcome, changes: joinOutcomes(before, outcome.changes) };
  if (!options.dryRun) return { status: await endSession({ ...end, record: now, outcome }, deps), outcome: all };
  deps.tell({ kind: 'message', level: 'info', text: resultLine(fileProgress(review, outcome.changes), 'Would apply') });
  const { conflicts, heldBack } = outcomeCounts(outcome);
  return { status: conflicts > 0 ? EXIT.conflict : heldBack > 0 ? EXIT.heldBack : EXIT.ok, outcome: all };
}

/** What earlier applies did, before anything is asked. */
function sayStanding(files: readonly FileProgress[], { id, outcome }: SessionRecord, { tell }: PersonDeps): void {
  const counts = countProgress(files);
  if (counts.total === 0) return;
  const when = outcome && whenText(outcome.at, Date.now());
  const text = counts.left === 0 ? `Nothing of session ${id} is left to apply` : `Session ${id}`;
  tell({ kind: 'message', level: 'info', text: `${text}: ${standingLine(counts, when)}.` });
}

/** For one command: suspect changes of these paths count as clean. The record keeps the session's own policy. */
function withAllowed(record: SessionRecord, globs: readonly string[]): SessionRecord {
  const { plan } = record;
  const allowSuspect = [...plan.policy.allowSuspect, ...globs];
  return { ...record, plan: { ...plan, policy: { ...plan.policy, allowSuspect } } };
}

/**
 * `discard`: nothing of the session is applied any more; what is left of it goes with the next gc. Throws LOCK_HELD while
 * another command stands on its layer.
 */
export async function discardSession(record: SessionRecord, deps: PersonDeps): Promise<void> {
  requireSettled(record);
  await withLayerLock(record.plan, 'discarding it', () =>
    dropLayer(updateRecord(record, { stage: 'discarded' }).plan, undefined),
  );
  deps.tell({ kind: 'message', level: 'info', text: `Session ${record.id} is discarded.` });
}

/**
 * `undo`: what the last apply of the session changed is put back, after a yes where there is a terminal to ask on;
 * undefined when that was not given. A file that the person edited since stays, unless the merge of both is accepted.
 */
export async function undoSession(
  record: SessionRecord,
  deps: PersonDeps,
  options: { readonly dryRun: boolean; readonly yes: boolean },
): Promise<ApplyOutcome | undefined> {
  requireSettled(record);
  const { plan } = record;
  const { screen } = deps;
  const request = {
    project: plan.project.root,
    sessionDir: plan.sessionDir,
    store: openContentStore(storeDir(plan.sessionDir)),
    tell: deps.tell,
    signal: deps.interruption.signal,
    ...(screen === undefined ? {} : { acceptMerge: (merge: Merged) => askMerge(screen, merge) }),
  };
  if (screen !== undefined && !options.yes && !options.dryRun) {
    const { changes } = await undoApply({ ...request, dryRun: true });
    const files = fileProgress(reviewOf(record), changes);
    const back = files.filter(({ verdict }) => verdict === 'applied').length;
    const stays = files.filter(({ verdict }) => verdict === 'conflict').length;
    const kept = stays === 0 ? '' : `; ${stays} edited since ${stays === 1 ? 'stays' : 'stay'}`;
    const when = record.outcome === undefined ? '' : ` of ${whenText(record.outcome.at, Date.now())}`;
    const answer = await askLine(screen, `[sandbox] Undo the apply${when}, ${amount(back, 'files')}${kept}? [y/N]:`);
    if (!isYes(answer)) return undefined;
  }
  const outcome = await undoApply({ ...request, dryRun: options.dryRun });
  if (!options.dryRun) {
    updateRecord(record, { stage: 'pending', outcome: outcomeAfterUndo(record.outcome, outcome) });
  }
  return outcome;
}

/** Whoever decides on a session finds it ended and not thrown away. */
function requireSettled(record: SessionRecord): void {
  if (record.stage === 'discarded') throw usageError(`session ${record.id} was discarded`);
  if (record.stage !== 'running' || ownerState(record) === 'gone') return;
  throw new RunClaudeError('SESSION_RUNNING', `session ${record.id} is still running (process ${record.owner?.pid})`, {
    hint: 'Wait for its end, or end it where it runs.',
  });
}

/** A person who types `apply` wants to be asked, whatever the session was started with. */
function withoutAutoApply({ plan }: SessionRecord): SessionRecord['plan'] {
  return { ...plan, policy: { ...plan.policy, autoApply: false } };
}

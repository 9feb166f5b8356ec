import { openContentStore } from '../../core/store/content.ts';
import { whenText } from '../../core/text/when.ts';
import type { Merged } from '../../core/types/change/conflict.ts';
import type { ApplyOutcome, ChangeOutcome, MadeBranch, SessionRecord } from '../../core/types/session.ts';
import { type UndoOutcome, undoApply, undoableSince } from '../../review/apply/undo.ts';
import { fileProgress, onBranch, partOnBranch } from '../../review/choices/file-progress.ts';
import { deleteBranch } from '../../review/publish/branch.ts';
import { showMerge } from '../../review/screen/ask/ask-conflict.ts';
import { askYesNo } from '../../terminal/ask.ts';
import { cleanLine } from '../../terminal/clean.ts';
import { amount } from '../../terminal/progress.ts';
import type { Screen } from '../../terminal/screen.ts';
import { reviewOf } from '../end/frozen-review.ts';
import { outcomeAfterUndo } from '../end/outcome-after.ts';
import { appendEvent } from '../record/events/events-file.ts';
import { requireChanges } from '../record/require-usable.ts';
import { storeDir, updateRecord } from '../record/session.ts';
import type { UserDeps } from '../stage/deps.ts';
import { undoBranchQuestion, undoMergeQuestion, undoQuestion } from './questions.ts';

/**
 * `undo`: restores what the last apply of the session changed, or deletes the branch that it made, after a yes. What was
 * undone does not count: the next one undoes the apply before it. Returns undefined where the user declined, or could not be
 * asked: without a terminal it needs `--yes`. A file that the user edited since the apply is kept, unless the user accepts a
 * merge of both.
 *
 * @throws {RunClaudeError} what requireChanges, undoApply and deleteBranch throw.
 */
export async function undoSession(
  record: SessionRecord,
  deps: UserDeps,
  options: { readonly dryRun: boolean; readonly yes: boolean },
): Promise<(ApplyOutcome & Partial<UndoOutcome>) | undefined> {
  requireChanges(record);
  const made = record.branches?.at(-1);
  const { plan } = record;
  const since = undoableSince(plan.sessionDir);
  if (made !== undefined && (since === undefined || made.at >= since)) return undoBranch(record, made, deps, options);
  const { screen } = deps;
  const request = {
    project: plan.project.root,
    sessionDir: plan.sessionDir,
    store: openContentStore(storeDir(plan.sessionDir)),
    tell: deps.tell,
    signal: deps.interruption.signal,
    ...(screen === undefined ? {} : { acceptMerge: (merge: Merged) => askUndoMerge(screen, merge) }),
  };
  if (!options.yes && !options.dryRun) {
    const { changes } = await undoApply({ ...request, dryRun: true });
    if (screen === undefined) return undefined;
    const files = fileProgress(reviewOf(record), changes);
    const undone = files.filter(({ verdict }) => verdict === 'applied').length;
    const edited = files.filter(({ verdict }) => verdict === 'conflict').length;
    const kept = edited === 0 ? '' : `; ${edited} edited since ${edited === 1 ? 'stays' : 'stay'}`;
    const when = record.outcome === undefined ? '' : ` of ${whenText(record.outcome.at, Date.now())}`;
    const what = `the apply${when}, ${amount(undone, 'files')}${kept}`;
    if (!(await askYesNo(screen, undoQuestion(what)))) return undefined;
  }
  const outcome = await undoApply({ ...request, dryRun: options.dryRun });
  if (!options.dryRun) {
    updateRecord(record, { stage: 'pending', outcome: outcomeAfterUndo(record.outcome, outcome) });
    const undone = outcome.changes.filter(({ verdict }) => verdict === 'applied').length;
    appendEvent(plan.sessionDir, 'undo', `${undone} of ${amount(outcome.changes.length, 'files')} undone`);
    const kept = importedCommits(record);
    if (kept !== undefined) deps.tell({ kind: 'message', level: 'info', text: kept });
  }
  return outcome;
}

/** What an undo leaves: commits are the user's from their import on, and others may be made on top of them. Pure. */
export function importedCommits({ id, commits = [] }: Pick<SessionRecord, 'id' | 'commits'>): string | undefined {
  const count = commits.filter(({ taken }) => taken === 'imported').reduce((sum, one) => sum + one.count, 0);
  if (count === 0) return undefined;
  const stay = count === 1 ? '1 imported commit stays' : `${count} imported commits stay`;
  return `${stay} in your repository, with any branch that has ${count === 1 ? 'it' : 'them'}: run-claude commits ${id}`;
}

async function askUndoMerge(screen: Screen, merge: Merged): Promise<boolean> {
  await showMerge(screen, merge);
  return askYesNo(screen, undoMergeQuestion(cleanLine(merge.path)));
}

/** Deletes the branch that the last apply made, if it is still where it was made. */
async function undoBranch(
  record: SessionRecord,
  made: MadeBranch,
  { screen, tell }: UserDeps,
  { dryRun, yes }: { readonly dryRun: boolean; readonly yes: boolean },
): Promise<ApplyOutcome | undefined> {
  const { name, pushedTo } = made;
  const reasons = [onBranch(name), partOnBranch(name)];
  const undone = {
    changes: (record.outcome?.changes ?? [])
      .filter(({ why }) => why !== undefined && reasons.includes(why))
      .map(({ path }): ChangeOutcome => ({ path, verdict: 'applied', why: `branch ${name}` })),
    at: new Date().toISOString(),
  };
  if (dryRun) return undone;
  const isAgreed = yes || (screen !== undefined && (await askYesNo(screen, undoBranchQuestion(name))));
  if (!isAgreed) return undefined;
  deleteBranch(record.plan.project.root, made);
  const branches = record.branches?.slice(0, -1) ?? [];
  updateRecord(record, {
    stage: 'pending',
    outcome: outcomeAfterUndo(record.outcome, undone),
    branches: branches.length === 0 ? undefined : branches,
  });
  appendEvent(record.plan.sessionDir, 'undo', `branch ${name} was deleted`);
  tell({ kind: 'message', level: 'info', text: `Deleted branch ${name}.` });
  if (pushedTo !== undefined) {
    const text = `The branch is still on ${pushedTo}. To delete it there: git push ${pushedTo} --delete ${name}`;
    tell({ kind: 'message', level: 'info', text });
  }
  return undone;
}

import type { ClaudeOutcome } from '../../core/types/agent/claude-data.ts';
import type { Review } from '../../core/types/review.ts';
import type { ApplyOutcome } from '../../core/types/session.ts';
import { undoableSince } from '../../review/apply/undo.ts';
import { countSuspectClaudeFiles } from '../../review/choices/claude-items.ts';
import { type FileProgress, fileProgress } from '../../review/choices/file-progress.ts';
import { type HeldBack, heldBack, outcomeCounts } from '../../review/choices/held-back.ts';
import { splitPairs } from '../../review/choices/lock-pairs.ts';
import { madeCommits } from '../../review/choices/policy.ts';
import { importCommand } from '../../review/screen/commit-lines.ts';
import { acceptAdvice, leftLines, resultLine, undoWords } from '../../review/screen/outcome-lines.ts';
import { cleanLine } from '../../terminal/clean.ts';
import { amount } from '../../terminal/progress.ts';
import { bringClaudeBack } from '../end/claude-data.ts';
import type { AgentEnd } from '../launch/agent-run.ts';
import { updateRecord } from '../record/session.ts';
import type { UserDeps } from '../stage/deps.ts';
import { appliedSince, recordNow } from './applied-since.ts';
import type { Applied, Applying } from './apply-choice.ts';
import { conflictHint } from './conflict-hint.ts';
import { reportEnd } from './end-status.ts';
import { heldLines, nothingLines, troubleLines } from './outcome-words.ts';
import type { TargetWords } from './targets/target.ts';

export interface SessionEnd extends Applying, Partial<Pick<Applied, 'outcome' | 'finish'>> {
  /** All that the session changed, for the report. */
  readonly whole: Review;
  readonly agent: AgentEnd;
  /** The user was asked about each suspect change, or would be where there is a terminal. */
  readonly isAsked?: boolean;
}

/**
 * Prints what became of the session's changes and the next commands, writes the reports, and lets the target finish.
 * Returns the exit status.
 *
 * @throws {RunClaudeError} what reportEnd and the target throw.
 */
export async function endSession(end: SessionEnd, deps: UserDeps): Promise<number> {
  const { review, whole, choice, outcome, target } = end;
  let record = recordNow(end.record);
  const since = appliedSince(end.record, record);
  const print = (text: string): void => deps.tell({ kind: 'message', level: 'info', text });
  const open = review.items.filter(
    ({ state, change }) => (state === 'clean' || state === 'suspect') && !since.has(change.path),
  ).length;
  const unignored = review.decisions.filter(({ isUnignored }) => isUnignored).length;
  const waiting = open + unignored + countSuspectClaudeFiles(review);
  const decided = outcome ?? { at: '', changes: choice.left };
  const counts = outcomeCounts(decided);
  const held = heldBack(review, decided);
  if (since.size > 0)
    print(
      `Session ${record.id}: ${amount(since.size, 'files')} ${since.size === 1 ? 'was' : 'were'} applied since by another command.`,
    );
  if (choice.discard) {
    const isUndoable = undoableSince(record.plan.sessionDir) !== undefined;
    record = updateRecord(record, { stage: 'discarded' });
    print(`Discarded.${undoWords(isUndoable) || ' Nothing was changed on this machine.'}`);
  } else if (outcome !== undefined) {
    const files = fileProgress(review, outcome.changes);
    for (const line of outcomeLines(outcome, files, held, target.words)) print(line);
    if (files.length === 0 && held.length === 0) for (const line of nothingLines(whole)) print(line);
    printClaude(outcome.claude ?? [], print);
    for (const line of conflictHint(outcome, target.words)) print(line);
    if (counts.waiting > 0) print(`The rest is pending in session ${record.id}: ${target.words.command()}`);
    const isAsked = deps.screen !== undefined && end.isAsked === true;
    const advice = isAsked ? undefined : acceptAdvice(target.words.command(), files);
    if (advice !== undefined) print(advice);
  } else if (review.isUnaudited) {
    const { id } = record;
    print(`Nothing was applied: the changes of session ${id} are not audited yet. Next: run-claude diff ${id}`);
  } else if (waiting > 0) {
    const { id } = record;
    print(
      `Nothing was applied. The changes are pending in session ${id}: run-claude diff ${id}, run-claude apply ${id}`,
    );
  } else {
    // Nothing to decide: clean files of Claude's data need no answer.
    const claude = await bringClaudeBack(record, [], deps);
    const left = { changes: choice.left, at: new Date().toISOString(), claude };
    record = updateRecord(record, { stage: 'applied', ...(claude.length > 0 && { outcome: left }) });
    printClaude(claude, print);
  }
  const command = madeCommits(review) && !choice.discard ? importCommand(record.id, review.commits) : undefined;
  if (command !== undefined) print(`Commits were made inside: ${command}`);
  const status = await reportEnd(
    {
      ...{ record, whole, choice, agent: end.agent },
      conflicts: outcome === undefined ? 0 : counts.conflicts,
      decided: choice.decided && !choice.discard,
      heldBack: held.length,
      waiting: choice.discard ? 0 : waiting + (review.isUnaudited ? 1 : 0),
    },
    deps,
  );
  await end.finish?.(record);
  return status;
}

/** What an apply did, and what it left with the reasons. */
function outcomeLines(
  outcome: ApplyOutcome,
  files: readonly FileProgress[],
  held: readonly HeldBack[],
  { place }: TargetWords,
): string[] {
  const suspects = files.filter(({ verdict }) => verdict === 'suspect');
  const named = new Set<string>(suspects.map(({ item }) => item.change.path));
  return [
    ...(files.length > 0 ? [resultLine(files, 'Applied', place)] : []),
    ...troubleLines(outcome.changes),
    ...splitPairs(outcome.changes).map(
      ({ applied, left }) => `${cleanLine(applied)} is applied without ${cleanLine(left)}: they may not fit together.`,
    ),
    ...leftLines(suspects),
    ...heldLines(held.filter(({ path }) => !named.has(path))),
  ];
}

function printClaude(outcome: readonly ClaudeOutcome[], print: (text: string) => void): void {
  const back = outcome.filter(({ verdict }) => verdict === 'applied').length;
  if (back > 0) print(`Claude's data: ${amount(back, 'files')} brought back for this project.`);
  for (const { path, verdict } of outcome)
    if (verdict === 'conflict')
      print(`conflict: ~/.claude/${cleanLine(path)} (it changed for this project in the meantime)`);
}

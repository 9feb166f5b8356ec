import { exitStatus } from '../../record/exit-status.ts';
import { updateRecord } from '../../record/session.ts';
import { countBlockedClaudeFindings, countSuspectClaudeFiles } from '../../review/claude-items.ts';
import { type FileProgress, fileProgress } from '../../review/file-progress.ts';
import { reachesSeverity } from '../../review/findings.ts';
import { splitPairs } from '../../review/lock-pairs.ts';
import { countHeldInGit, madeCommits, outcomeCounts } from '../../review/policy.ts';
import { cleanLine } from '../../terminal/clean.ts';
import { amount } from '../../terminal/progress.ts';
import { importCommand } from '../../terminal/review/commit-lines.ts';
import { acceptAdvice, leftLines, resultLine } from '../../terminal/review/outcome-lines.ts';
import type { ClaudeOutcome } from '../../types/claude-data.ts';
import type { Choice, Review } from '../../types/review.ts';
import type { ApplyOutcome, SessionRecord } from '../../types/session.ts';
import type { AgentEnd } from '../start/agent-run.ts';
import type { UserDeps } from '../start/deps.ts';
import { APPLIED_SINCE, appliedSince, recordNow } from './applied-since.ts';
import { bringClaudeBack } from './claude-data.ts';
import { conflictHint } from './conflict-hint.ts';
import { writeOwnReport } from './own-report.ts';
import { sessionReport } from './write-report.ts';

export interface SessionEnd {
  readonly record: SessionRecord;
  /** The changes that were decided about. */
  readonly review: Review;
  /** All that the session changed, for the report. Default: the changes that were decided about. */
  readonly whole?: Review;
  readonly choice: Choice;
  readonly agent: AgentEnd;
  readonly outcome?: ApplyOutcome;
  /** The user was asked about each suspect change, or would be where there is a terminal. */
  readonly isAsked?: boolean;
}

/**
 * Prints what became of the session's changes and the next commands, and writes the reports. Returns the exit status.
 * Throws where a report cannot be written: a script that asked for one must not continue without it.
 */
export async function endSession(end: SessionEnd, deps: UserDeps): Promise<number> {
  const { review, whole = review, choice, outcome } = end;
  let record = recordNow(end.record);
  const since = appliedSince(end.record, record);
  const print = (text: string): void => deps.tell({ kind: 'message', level: 'info', text });
  const open = review.items.filter(
    ({ state, change }) => (state === 'clean' || state === 'suspect') && !since.has(change.path),
  ).length;
  const unignored = review.decisions.filter(({ isUnignored }) => isUnignored).length;
  const waiting = open + unignored + countSuspectClaudeFiles(review);
  const counts = outcomeCounts(outcome ?? { at: '', changes: choice.left });
  if (since.size > 0)
    print(
      `Session ${record.id}: ${amount(since.size, 'files')} ${since.size === 1 ? 'was' : 'were'} applied since by another command.`,
    );
  if (choice.discard) {
    record = updateRecord(record, { stage: 'discarded' });
    print('Discarded. Nothing was changed on this machine.');
  } else if (outcome !== undefined) {
    const files = fileProgress(review, outcome.changes);
    printOutcome(outcome, files, print);
    for (const line of conflictHint(outcome, record.id)) print(line);
    if (counts.waiting > 0) print(`The rest is pending in session ${record.id}: run-claude apply ${record.id}`);
    const isAsked = deps.screen !== undefined && end.isAsked === true;
    const advice = isAsked ? undefined : acceptAdvice(record.id, files);
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
  const interruptedBy = deps.interruption.by();
  const status = exitStatus({
    ...(interruptedBy === undefined ? {} : { interruptedBy }),
    hasFailed: end.agent.failure !== undefined,
    limited: end.agent.stopReason !== undefined && interruptedBy === undefined,
    conflicts: outcome === undefined ? 0 : counts.conflicts,
    decided: choice.decided && !choice.discard,
    heldBack: counts.heldBack + countHeldInGit(review) + countBlockedClaudeFindings(review),
    failOn: reachesSeverity(record.plan.policy.failOn, whole),
    waiting: choice.discard ? 0 : waiting + (review.isUnaudited ? 1 : 0),
    agent: end.agent.status,
  });
  const report = sessionReport({ record, review: whole, choice, exitStatus: status });
  writeOwnReport(report, record.plan.sessionDir);
  deps.report?.write(report);
  return status;
}

function printOutcome(outcome: ApplyOutcome, files: readonly FileProgress[], print: (text: string) => void): void {
  if (files.length > 0) print(resultLine(files, 'Applied'));
  for (const { path, verdict, why } of outcome.changes) {
    const isSince = why === APPLIED_SINCE;
    if (verdict === 'conflict' || verdict === 'failed' || (verdict === 'applied' && why !== undefined) || isSince)
      print(`${isSince ? 'applied' : verdict}: ${cleanLine(path)}${why === undefined ? '' : ` (${cleanLine(why)})`}`);
  }
  for (const { applied, left } of splitPairs(outcome.changes))
    print(`${cleanLine(applied)} is applied without ${cleanLine(left)}: they may not fit together.`);
  for (const text of leftLines(files.filter(({ verdict }) => verdict === 'suspect'))) print(text);
  printClaude(outcome.claude ?? [], print);
}

function printClaude(outcome: readonly ClaudeOutcome[], print: (text: string) => void): void {
  const back = outcome.filter(({ verdict }) => verdict === 'applied').length;
  if (back > 0) print(`Claude's data: ${amount(back, 'files')} brought back for this project.`);
  for (const { path, verdict } of outcome)
    if (verdict === 'conflict')
      print(`conflict: ~/.claude/${cleanLine(path)} (it changed for this project in the meantime)`);
}

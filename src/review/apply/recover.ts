import { RunClaudeError } from '../../core/errors.ts';
import type { ContentStore } from '../../core/store/content.ts';
import { withLock } from '../../core/store/lock.ts';
import { whenText } from '../../core/text/when.ts';
import type { Tell } from '../../core/types/event.ts';
import type { ApplyOutcome, ChangeOutcome } from '../../core/types/session.ts';
import { type HostWalker, NotAFolder, openHostWalker } from './disk/host/host-path.ts';
import { expectedIdentity, type ReadJournal, readJournals, reopenJournal, unrecorded } from './disk/journal/journal.ts';
import { endJournal, onePerPath } from './disk/journal/journalled.ts';
import { togetherReason } from './disk/keep-together.ts';
import { removeTemporary } from './disk/remove-temporary.ts';
import { type RollBackTools, rollBack } from './disk/roll-back.ts';
import { DiskFailure, runSteps } from './disk/steps/run-steps.ts';
import { reasonOf } from './disk/steps/step-failure.ts';
import { appliedOutcome, outcomeOf } from './disk/steps/steps.ts';
import { brokenThings, undoSteps } from './disk/steps/undo-steps.ts';
import { projectLockFile } from './lock-file.ts';

export interface RecoverRequest {
  readonly project: string;
  readonly sessionDir: string;
  readonly store: ContentStore;
  readonly tell: Tell;
  /** The caller holds the project's lock already. */
  readonly locked?: boolean;
  /**
   * When the session's record last got an outcome, ISO 8601, '' for never: an apply or undo that ended later is
   * returned as well, because its command was killed before it could write the record. Undefined: it is not.
   */
  readonly recordedAt?: string;
}

/**
 * Finishes an apply or undo of this session that was killed, or continues to roll it back where that had begun, and
 * reports it. Undefined when there is none. Every command that changes the session calls it first.
 *
 * @throws {RunClaudeError} LOCK_HELD while it is still being applied, APPLY_PROJECT_REPLACED, RECORD_VERSION,
 * RECORD_DAMAGED, and what the store throws.
 */
export async function recoverApply(request: RecoverRequest): Promise<ApplyOutcome | undefined> {
  const journals = readJournals(request.sessionDir);
  if (journals.every(({ end }) => end !== undefined)) return unrecorded(journals, request.recordedAt);
  const body = async (): Promise<ApplyOutcome | undefined> => {
    const changes: ChangeOutcome[] = [];
    // Read again: the process that held the lock may have finished it.
    for (const journal of readJournals(request.sessionDir)) {
      if (journal.end === undefined) for (const one of await finish(journal, request)) changes.push(one);
    }
    return { changes, at: new Date().toISOString() };
  };
  if (request.locked) return body();
  return withLock(projectLockFile(request.sessionDir, request.project), { what: 'finishing an apply' }, body);
}

async function finish(read: ReadJournal, request: RecoverRequest): Promise<ChangeOutcome[]> {
  using walker = openHostWalker(request.project, expectedIdentity(read.head));
  using journal = reopenJournal(read);
  // A record that was cut off must not run into the next one.
  journal.startLine();
  removeLeftovers(read, walker);
  const say = (text: string): void => request.tell({ kind: 'message', level: 'warning', text });
  if (!read.ready) {
    // It was killed before it changed the host.
    endJournal(journal, walker, read.folders, []);
    return [];
  }
  const unfinished = new Set<number>();
  const tools = { walker, journal, token: read.head.token, content: request.store, tell: request.tell, unfinished };
  const what = `An ${read.head.kind === 'undo' ? 'undo' : 'apply'} (${whenText(read.head.at, Date.now())})`;
  // Where letter case is folded, the old name of a renamed file still leads to the file under its new name.
  const wasDone = (number: number, outcome: ChangeOutcome): ChangeOutcome => {
    const step = read.done.has(number) ? read.steps[number] : undefined;
    return step === undefined ? outcome : appliedOutcome(step);
  };
  let outcomes: ChangeOutcome[];
  if (read.rollback !== undefined) {
    say(`${what} ended in the middle: undoing it`);
    outcomes = await rollBack(read.steps, read.done, read.rollback, tools);
  } else {
    say(`${what} ended in the middle: finishing it`);
    try {
      const undone = await undoBroken(read, tools);
      const failed = new Map([...read.failed, ...undone]);
      const done = await runSteps(read.steps, { ...tools, kind: read.head.kind, resumed: true, failed });
      outcomes = onePerPath([...done].map(([number, own]) => undone.get(number) ?? wasDone(number, own)));
    } catch (error) {
      if (!(error instanceof DiskFailure)) throw error;
      outcomes = await rollBack(read.steps, new Map([...read.done, ...error.done]), error.message, tools);
    }
  }
  if (unfinished.size === 0) endJournal(journal, walker, read.folders, outcomes);
  return outcomes;
}

/** Undoes what was done of things in several files that could not be finished, and gives each of their steps an outcome. */
async function undoBroken(read: ReadJournal, tools: RollBackTools): Promise<Map<number, ChangeOutcome>> {
  const outcomes = new Map<number, ChangeOutcome>();
  for (const { path, steps } of brokenThings(read.steps, read.failed).values()) {
    const undone = await undoSteps(steps, path, read.done, tools);
    for (const [number, step] of steps) {
      const own = undone.get(number) ?? read.failed.get(number);
      outcomes.set(number, own ?? outcomeOf(step, 'conflict', togetherReason(path)));
    }
  }
  return outcomes;
}

/** Removes temporary files next to their targets; the journal has their names. */
function removeLeftovers(read: ReadJournal, walker: HostWalker): void {
  for (const [number, step] of read.steps.entries()) {
    for (const name of [`.rc-${read.head.token}-${number}`, `.rc-${read.head.token}-b${number}`]) {
      try {
        removeTemporary(walker, step.path, name);
      } catch (cause) {
        if (cause instanceof NotAFolder) continue;
        throw new RunClaudeError('APPLY_UNFINISHED', `cannot remove ${name} next to ${step.path}: ${reasonOf(cause)}`, {
          cause,
          hint: 'An apply ended in the middle. Make that folder writable, then try again.',
        });
      }
    }
  }
}

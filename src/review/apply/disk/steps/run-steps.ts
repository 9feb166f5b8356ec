import { openProgress } from '../../../../core/progress/open-progress.ts';
import type { ContentReader } from '../../../../core/types/entry.ts';
import type { Tell } from '../../../../core/types/event.ts';
import type { ChangeOutcome } from '../../../../core/types/session.ts';
import { CountedFiles } from '../counted-files.ts';
import { NotAFolder } from '../host/host-path.ts';
import type { Journal } from '../journal/journal.ts';
import type { JournalHead } from '../journal/journal-format.ts';
import { BrokenDecisions } from '../keep-together.ts';
import { OpenBatch } from '../open-batch.ts';
import { ReplacedFolders } from '../replaced-folders.ts';
import { WholeSteps, type WhyInUse } from '../whole-things.ts';
import { isStaged } from './perform-step.ts';
import { asFound, type RecheckOptions, recheckStep } from './recheck-step.ts';
import { batchesOf, canRepeat, type Numbered } from './step-batches.ts';
import { stepContent } from './step-content.ts';
import { codeOf, DISK_CODES, ROOM_CODES, reasonOf } from './step-failure.ts';
import { appliedOutcome, outcomeOf, type Step } from './steps.ts';
import { undoSteps } from './undo-steps.ts';

export interface Run extends RecheckOptions {
  readonly journal: Journal;
  readonly content: ContentReader;
  /** The names of temporary files next to their targets are made of the token and the step number. */
  readonly token: string;
  readonly tell: Tell;
  readonly kind: JournalHead['kind'];
  readonly whyInUse?: WhyInUse;
  readonly signal?: AbortSignal;
  /**
   * Steps that an earlier process reported as failed: they are not tried again, because the user has seen the failure.
   */
  readonly failed?: ReadonlyMap<number, ChangeOutcome>;
  /** Gets the steps that leave work for recovery: a temporary file to remove, or a folder to force to the disk. */
  readonly unfinished: Set<number>;
}

/** The disk itself fails, not one path: nothing more can be written, and the steps that were done are undone. */
export class DiskFailure extends Error {
  /** Steps that were done; with a mode where the file system gave the file another mode than planned. */
  readonly done: ReadonlyMap<number, number | undefined>;
  constructor(cause: unknown, done: ReadonlyMap<number, number | undefined>) {
    super(reasonOf(cause), { cause });
    this.name = 'DiskFailure';
    this.done = done;
  }
}

/** A run with the outcomes of its steps so far. */
interface Running extends Run {
  readonly steps: readonly Step[];
  readonly counted: CountedFiles;
  readonly broken: BrokenDecisions;
  readonly whole: WholeSteps;
  /** Not after a crash: what an earlier process removed is not the user's file. */
  readonly folders: ReplacedFolders | undefined;
  readonly outcomes: Map<number, ChangeOutcome>;
  /** Steps that were done; with a mode where the file system gave the file another mode than planned. */
  readonly done: Map<number, number | undefined>;
}

/**
 * Does the steps of a journal that is ready, in order, and checks each path again first. Returns the outcome of each
 * step by its number. Throws DiskFailure; failures of single paths are outcomes.
 *
 * Steps go in batches, and each batch waits four times for the disk at most, however many steps it has: all new
 * contents are written next to their targets and forced to the disk, then renamed, and then the folders are forced to
 * the disk. No step of the next batch begins before.
 */
export async function runSteps(steps: readonly Step[], run: Run): Promise<Map<number, ChangeOutcome>> {
  using progress = openProgress(run.tell, run.kind === 'undo' ? 'Undoing' : 'Applying');
  const broken = new BrokenDecisions();
  const folders = run.resumed ? undefined : new ReplacedFolders(steps, run.walker);
  const whole = new WholeSteps(steps, run, run.whyInUse);
  const running: Running = {
    ...run,
    counted: new CountedFiles(steps, progress),
    broken,
    whole,
    folders,
    steps,
    outcomes: new Map(),
    done: new Map(),
  };
  for (const batch of batchesOf(steps)) await runBatch(batch, running);
  return running.outcomes;
}

/** A batch needs more room than its steps one after the other: without that room they are done one by one. */
async function runBatch(batch: readonly Numbered[], running: Running): Promise<void> {
  if (await runTogether(batch, running)) return;
  for (const one of batch) if (!running.outcomes.has(one.number)) await runTogether([one], running);
}

/** False when the disk has no room for the rest of the batch together. Throws DiskFailure. */
async function runTogether(steps: readonly Numbered[], running: Running): Promise<boolean> {
  using batch = new OpenBatch(running.walker, running.unfinished);
  const fits = await beginAndCommit(steps, batch, running);
  await batch.flush().catch((error: unknown) => {
    if (DISK_CODES.has(codeOf(error))) throw new DiskFailure(error, running.done);
    // Such as a file server that does not answer: what was done stays, and recovery checks it again.
    for (const { number } of steps) running.unfinished.add(number);
  });
  return fits;
}

async function beginAndCommit(steps: readonly Numbered[], batch: OpenBatch, running: Running): Promise<boolean> {
  const fitsAfter = (one: Numbered, error: unknown): boolean => {
    const { step, number } = one;
    batch.drop(number);
    if (steps.length > 1 && ROOM_CODES.has(codeOf(error)) && canRepeat(step)) return false;
    if (DISK_CODES.has(codeOf(error))) throw new DiskFailure(error, running.done);
    setOutcome(one, outcomeOf(step, error instanceof NotAFolder ? 'conflict' : 'failed', reasonOf(error)), running);
    return true;
  };
  const pending: Numbered[] = [];
  for (const one of steps) {
    try {
      if (await begin(one, batch, running)) pending.push(one);
    } catch (error) {
      if (!fitsAfter(one, error)) return false;
    }
    await undoBroken(one, running);
  }
  const unsafe = await batch.flushStaged();
  running.counted.begin();
  for (const [at, one] of pending.entries()) {
    try {
      const error = unsafe.get(one.number);
      if (error !== undefined) throw error;
      await commit(one, batch, running);
    } catch (error) {
      if (!fitsAfter(one, error)) return false;
    }
    await undoBroken(one, running);
    if (at % 16 === 15) await new Promise((resolve) => setImmediate(resolve));
  }
  return true;
}

function setOutcome({ step, number }: Numbered, outcome: ChangeOutcome, running: Running): void {
  running.outcomes.set(number, outcome);
  running.counted.end(step);
  running.broken.note(step, outcome);
  running.whole.note(step, outcome);
  noteInJournal(running.journal, number, outcome, running);
}

/**
 * Undoes what was done of a thing that cannot be finished. A step that failed is in the journal before that, so recovery
 * undoes it too.
 */
async function undoBroken({ step }: Numbered, running: Running): Promise<void> {
  const { whole, outcomes, done, broken } = running;
  if (!whole.isBroken(step)) return;
  for (const [number, outcome] of await undoSteps(whole.giveUp(step), step.path, done, running)) {
    const own = outcomes.get(number);
    done.delete(number);
    outcomes.set(number, outcome);
    if (own !== undefined) broken.note(step, outcome);
    noteInJournal(running.journal, number, outcome, running);
  }
}

/**
 * Makes the step's folder, or writes its content next to the target. Returns true when the step still has to be
 * committed. Folders are made before their entries, and made read-only after them.
 */
async function begin(one: Numbered, batch: OpenBatch, running: Running): Promise<boolean> {
  const { step, number } = one;
  const failed = running.failed?.get(number);
  if (failed !== undefined) {
    running.outcomes.set(number, failed);
    running.broken.note(step, failed);
    return false;
  }
  if (isInterrupted(one, running) || isRefused(one, running, false)) return false;
  const { post } = step;
  const opens = post?.kind === 'dir' && (post.mode & 0o300) === 0o300;
  if (opens) {
    await commit(one, batch, running);
    return false;
  }
  const tools = toolsFor(one, await newContent(step, running), running);
  if (!isStaged(step, tools)) return true;
  const verdict = recheckStep(step, running);
  if (verdict === 'changed' || verdict === 'done') {
    skipStep(one, verdict, batch, running);
    return false;
  }
  batch.stage(number, step, tools);
  return true;
}

/** Signals are checked between two paths only: a path that was begun is finished, and so is a decision. */
function isInterrupted(one: Numbered, running: Running): boolean {
  const hasBegun = running.broken.hasBegun(one.step) || running.whole.hasBegun(one.step);
  if (!running.signal?.aborted || hasBegun) return false;
  setOutcome(one, outcomeOf(one.step, 'skipped', 'interrupted'), running);
  return true;
}

/** Whether the step may not be done, because the rest of its change cannot be. */
function isRefused(one: Numbered, running: Running, isCommitted: boolean): boolean {
  const { folders, whole } = running;
  const lost = folders?.reasonAgainst(one.step) ?? whole.reasonAgainst(one.step, isCommitted);
  if (lost !== undefined) setOutcome(one, outcomeOf(one.step, 'conflict', lost), running);
  return lost !== undefined;
}

async function commit(one: Numbered, batch: OpenBatch, running: Running): Promise<void> {
  const { step, number } = one;
  const content = batch.hasStaged(number) ? undefined : await newContent(step, running);
  if (isInterrupted(one, running)) {
    batch.drop(number);
    return;
  }
  if (isRefused(one, running, true)) {
    batch.drop(number);
    return;
  }
  const against = running.broken.reasonAgainst(step);
  if (against !== undefined) {
    batch.drop(number);
    setOutcome(one, outcomeOf(step, 'conflict', against), running);
    return;
  }
  const verdict = recheckStep(step, running);
  if (verdict === 'changed' || verdict === 'done') {
    skipStep(one, verdict, batch, running);
    return;
  }
  const tools = { ...toolsFor(one, content, running), cleared: verdict === 'cleared' };
  running.done.set(number, batch.commit(number, asFound(step, running), tools));
  setOutcome(one, appliedOutcome(step), running);
}

/** Sets the outcome of a step whose path was changed on the host, or is already as the step would leave it. */
function skipStep(one: Numbered, verdict: 'changed' | 'done', batch: OpenBatch, running: Running): void {
  const { step, number } = one;
  batch.drop(number);
  if (verdict === 'changed') {
    setOutcome(one, outcomeOf(step, 'conflict', 'changed on the host while applying'), running);
    return;
  }
  running.done.set(number, undefined);
  if (running.resumed) batch.addFinished(step);
  setOutcome(one, appliedOutcome(step), running);
}

function toolsFor({ number }: Numbered, content: Iterable<Uint8Array> | undefined, { walker, token }: Running) {
  return { walker, temp: `.rc-${token}-${number}`, content, cleared: false };
}

/** The content that a step writes; undefined where it writes none. */
async function newContent(
  { pre, post, inPlace }: Step,
  { content }: Running,
): Promise<Iterable<Uint8Array> | undefined> {
  // A file with a name outside the project is never changed there, not even its mode: the project gets its own copy.
  const elsewhere = pre?.kind === 'file' && pre.nlink > 1 && inPlace !== true;
  return post?.kind === 'file' && (elsewhere || pre?.digest !== post.digest) ? stepContent(content, post) : undefined;
}

/**
 * Only a hint: recovery compares the host itself. A journal that cannot be appended to stops nothing. What breaks a thing
 * that was begun is on the disk before the thing is undone.
 */
function noteInJournal(
  journal: Journal,
  number: number,
  outcome: ChangeOutcome,
  { done, steps, whole }: Running,
): void {
  const mode = done.get(number);
  const record = { r: 'done', step: number, ...(mode === undefined ? {} : { mode }) } as const;
  const step = steps[number];
  const isDurable = step !== undefined && whole.isBroken(step);
  try {
    journal.append([outcome.verdict === 'applied' ? record : { r: 'failed', step: number, outcome }], isDurable);
  } catch (error) {
    if (!DISK_CODES.has(codeOf(error))) throw error;
  }
}

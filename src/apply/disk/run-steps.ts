import type { RelPath } from '../../text/path.ts';
import type { ContentReader } from '../../types/entry.ts';
import type { Tell } from '../../types/event.ts';
import type { ChangeOutcome } from '../../types/session.ts';
import { NotAFolder } from './host-path.ts';
import type { Journal, JournalHead } from './journal.ts';
import { BrokenDecisions } from './keep-together.ts';
import { asFound, type Looking, lookAgain } from './look-again.ts';
import { OpenBatch } from './open-batch.ts';
import { isStaged } from './perform-step.ts';
import { stepContent } from './step-content.ts';
import { appliedOutcome, type Step } from './steps.ts';

export interface Run extends Looking {
  readonly journal: Journal;
  readonly content: ContentReader;
  /** Names of our files beside their targets: token and step number. */
  readonly token: string;
  readonly tell: Tell;
  readonly kind: JournalHead['kind'];
  readonly signal?: AbortSignal;
  /** Of steps of an earlier process: what it could not do, and said so. Tried again, nobody would know of it. */
  readonly failed?: ReadonlyMap<number, ChangeOutcome>;
  /** Gets steps with something left for recovery: a file beside the target to remove, a folder to force to the disk. */
  readonly unfinished: Set<number>;
}

/** The disk, not one path, is the matter: nothing more can be written, so what was done is taken back. */
export class DiskFailure extends Error {
  /** Steps that were done, with the mode that the disk gave instead of theirs, where it did. */
  readonly done: ReadonlyMap<number, number | undefined>;
  constructor(cause: unknown, done: ReadonlyMap<number, number | undefined>) {
    super(reasonOf(cause), { cause });
    this.name = 'DiskFailure';
    this.done = done;
  }
}

/** Not a read-only file system: it may be one folder's alone, and where it is the project's nothing was done. */
const DISK_CODES = new Set(['ENOSPC', 'EDQUOT', 'EIO']);

/** What would have room when each step is done by itself. */
const ROOM_CODES = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE']);

interface Numbered {
  readonly step: Step;
  readonly number: number;
}

/** A run with what became of its steps so far. */
interface Running extends Run {
  readonly total: number;
  readonly what: string;
  readonly broken: BrokenDecisions;
  readonly outcomes: Map<number, ChangeOutcome>;
  /** Steps that were done, with the mode that the disk gave instead of theirs, where it did. */
  readonly done: Map<number, number | undefined>;
}

/**
 * Does the steps of a journal that is ready, in order; looks at each path again first. Gives step number → outcome.
 * Throws DiskFailure; failures of single paths are outcomes.
 *
 * Steps go in batches, and each batch waits four times for the disk at most, however many steps it has: all new contents
 * are written beside their targets and forced to the disk, then renamed, and then the folders are forced to the disk. No
 * step of the next batch begins before.
 */
export async function runSteps(steps: readonly Step[], run: Run): Promise<Map<number, ChangeOutcome>> {
  const what = run.kind === 'undo' ? 'Taking back' : 'Applying';
  const broken = new BrokenDecisions();
  const running: Running = { ...run, what, broken, total: steps.length, outcomes: new Map(), done: new Map() };
  for (const batch of batchesOf(steps)) await runBatch(batch, running);
  run.tell({ kind: 'progress-end', what });
  return running.outcomes;
}

const MAX_BATCH_STEPS = 400;
const MAX_BATCH_BYTES = 64 * 2 ** 20;

/** Deletions never share a batch with what is written, nor what runs nothing with what was chosen by name. */
function* batchesOf(steps: readonly Step[]): Generator<readonly Numbered[]> {
  let batch: Numbered[] = [];
  let bytes = 0;
  for (const [number, step] of steps.entries()) {
    const size = step.post?.size ?? 0;
    const last = batch.at(-1)?.step;
    const whole = batch.length === MAX_BATCH_STEPS || bytes + size > MAX_BATCH_BYTES;
    if (last !== undefined && (whole || sortOf(last) !== sortOf(step))) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push({ step, number });
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

function sortOf({ post, late }: Step): 'deletion' | 'late' | 'other' {
  if (post === undefined) return 'deletion';
  return late ? 'late' : 'other';
}

/** A batch needs more room beside the targets than its steps one after the other: where there is none, so it goes. */
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
    // Such as a server that went away: what was done may stay, and is looked at again later.
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
    settle(one, leave(step, error instanceof NotAFolder ? 'conflict' : 'failed', reasonOf(error)), running);
    return true;
  };
  const pending: Numbered[] = [];
  for (const one of steps) {
    try {
      if (await begin(one, batch, running)) pending.push(one);
    } catch (error) {
      if (!fitsAfter(one, error)) return false;
    }
  }
  const unsafe = await batch.flushStaged();
  for (const [at, one] of pending.entries()) {
    running.tell({ kind: 'progress', what: running.what, done: one.number, total: running.total, unit: 'files' });
    try {
      const error = unsafe.get(one.number);
      if (error !== undefined) throw error;
      await commit(one, batch, running);
    } catch (error) {
      if (!fitsAfter(one, error)) return false;
    }
    if (at % 16 === 15) await new Promise((resolve) => setImmediate(resolve));
  }
  return true;
}

/** Whether a step that failed left its path as it was. */
function canRepeat({ pre, post, inPlace }: Step): boolean {
  return inPlace !== true && (pre === undefined || post === undefined || pre.kind === post.kind);
}

function settle({ step, number }: Numbered, outcome: ChangeOutcome, running: Running): void {
  running.outcomes.set(number, outcome);
  running.broken.note(step, outcome);
  noteInJournal(running.journal, number, outcome, running.done.get(number));
}

/**
 * Makes the step's folder, or writes its content beside the target; true when there is more to do. Folders come before
 * what goes into them, those that are closed after it.
 */
async function begin(one: Numbered, batch: OpenBatch, running: Running): Promise<boolean> {
  const { step, number } = one;
  const failed = running.failed?.get(number);
  if (failed !== undefined) {
    running.outcomes.set(number, failed);
    running.broken.note(step, failed);
    return false;
  }
  if (leftByInterruption(one, running)) return false;
  const { post } = step;
  const opens = post?.kind === 'dir' && (post.mode & 0o300) === 0o300;
  if (opens) {
    await commit(one, batch, running);
    return false;
  }
  const tools = toolsFor(one, await newContent(step, running), running);
  if (!isStaged(step, tools)) return true;
  const verdict = lookAgain(step, running);
  if (verdict === 'changed' || verdict === 'done') {
    leaveOut(one, verdict, batch, running);
    return false;
  }
  batch.stage(number, step, tools);
  return true;
}

/** Signals are looked at between two paths only; a started path is finished, and so is a started decision. */
function leftByInterruption(one: Numbered, running: Running): boolean {
  if (!running.signal?.aborted || running.broken.hasBegun(one.step)) return false;
  settle(one, leave(one.step, 'skipped', 'interrupted'), running);
  return true;
}

async function commit(one: Numbered, batch: OpenBatch, running: Running): Promise<void> {
  const { step, number } = one;
  const content = batch.hasStaged(number) ? undefined : await newContent(step, running);
  if (leftByInterruption(one, running)) {
    batch.drop(number);
    return;
  }
  const against = running.broken.reasonAgainst(step);
  if (against !== undefined) {
    batch.drop(number);
    settle(one, leave(step, 'conflict', against), running);
    return;
  }
  const verdict = lookAgain(step, running);
  if (verdict === 'changed' || verdict === 'done') {
    leaveOut(one, verdict, batch, running);
    return;
  }
  const tools = { ...toolsFor(one, content, running), cleared: verdict === 'cleared' };
  running.done.set(number, batch.commit(number, asFound(step, running), tools));
  settle(one, appliedOutcome(step), running);
}

/** A step whose path is no longer as it was, or already as it shall be. */
function leaveOut(one: Numbered, verdict: 'changed' | 'done', batch: OpenBatch, running: Running): void {
  const { step, number } = one;
  batch.drop(number);
  if (verdict === 'changed') {
    settle(one, leave(step, 'conflict', 'changed on the host while applying'), running);
    return;
  }
  running.done.set(number, undefined);
  if (running.resumed) batch.addFinished(step);
  settle(one, appliedOutcome(step), running);
}

function toolsFor({ number }: Numbered, content: Iterable<Uint8Array> | undefined, { walker, token }: Running) {
  return { walker, temp: `.rc-${token}-${number}`, content, cleared: false };
}

/** Content that a step writes; undefined where it writes none. */
async function newContent(
  { pre, post, inPlace }: Step,
  { content }: Running,
): Promise<Iterable<Uint8Array> | undefined> {
  // Nor is a mode alone ours to change where the file has a name outside the project.
  const elsewhere = pre?.kind === 'file' && pre.nlink > 1 && inPlace !== true;
  return post?.kind === 'file' && (elsewhere || pre?.digest !== post.digest) ? stepContent(content, post) : undefined;
}

/** A hint for recovery, which looks at the host itself: a journal that cannot be appended to stops nothing. */
function noteInJournal(journal: Journal, step: number, outcome: ChangeOutcome, mode: number | undefined): void {
  const done = { r: 'done', step, ...(mode === undefined ? {} : { mode }) } as const;
  try {
    journal.append([outcome.verdict === 'applied' ? done : { r: 'failed', step, outcome }], false);
  } catch (error) {
    if (!DISK_CODES.has(codeOf(error))) throw error;
  }
}

function leave(step: Step, verdict: ChangeOutcome['verdict'], why: string): ChangeOutcome {
  return { path: step.path as RelPath, verdict, why };
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'not permitted',
  EBUSY: 'busy (a mount point, or in use)',
  ENOTEMPTY: 'the host has files of its own in it',
  EEXIST: 'the host has files of its own in it',
  ENAMETOOLONG: 'the name or path is too long for this file system',
  EILSEQ: 'this file system cannot hold the name',
  EINVAL: 'this file system cannot hold the name',
  ELOOP: 'a link is in the way',
  ENOSPC: 'no space left on the disk',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the file system is read-only',
  EIO: 'the disk reports an error',
  EXDEV: 'it lies on another file system',
};

/** Whether an error is one path's, and the others can go on. */
export function isOnePath(error: unknown): boolean {
  return (
    error instanceof NotAFolder ||
    ((error as NodeJS.ErrnoException).code !== undefined && !('hint' in (error as object)))
  );
}

/** Why a path failed, for people. */
export function reasonOf(error: unknown): string {
  return REASONS[codeOf(error)] ?? (error as Error).message;
}

/** Node has no name for EDQUOT (libuv does not know it): 122 on Linux, 69 on macOS. */
function codeOf(error: unknown): string {
  const { code = '', errno } = error as NodeJS.ErrnoException;
  return errno === (process.platform === 'darwin' ? -69 : -122) ? 'EDQUOT' : code;
}

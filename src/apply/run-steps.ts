import type { ContentReader } from '../types/entry.ts';
import type { Tell } from '../types/event.ts';
import type { RelPath } from '../types/path.ts';
import type { ChangeOutcome } from '../types/session.ts';
import { fingerprintHost, readHost } from './host-entry.ts';
import { type HostWalker, NotAFolder } from './host-path.ts';
import type { Journal, JournalHead } from './journal.ts';
import { BrokenDecisions } from './keep-together.ts';
import { performStep } from './perform-step.ts';
import { stepContent } from './step-content.ts';
import type { Step } from './steps.ts';
import { isDone, isUntouched } from './steps.ts';

export interface Run {
  readonly walker: HostWalker;
  readonly journal: Journal;
  readonly content: ContentReader;
  /** Names of our files beside their targets: token and step number. */
  readonly token: string;
  readonly tell: Tell;
  readonly kind: JournalHead['kind'];
  readonly signal?: AbortSignal;
  /** Steps of an earlier process that ended in the middle: what is half done is ours. */
  readonly resumed: boolean;
  /** Of those steps: what the earlier process could not do, and said so. Tried again, nobody would know of it. */
  readonly failed?: ReadonlyMap<number, ChangeOutcome>;
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

/**
 * Does the steps of a journal that is ready, in order; looks at each path again first. Gives step number → outcome.
 * Throws DiskFailure; failures of single paths are outcomes.
 */
export async function runSteps(steps: readonly Step[], run: Run): Promise<Map<number, ChangeOutcome>> {
  const outcomes = new Map<number, ChangeOutcome>();
  const done = new Map<number, number | undefined>();
  const broken = new BrokenDecisions();
  const what = run.kind === 'undo' ? 'Taking back' : 'Applying';
  for (const [number, step] of steps.entries()) {
    run.tell({ kind: 'progress', what, done: number, total: steps.length, unit: 'files' });
    const failed = run.failed?.get(number);
    if (failed !== undefined) {
      outcomes.set(number, failed);
      broken.note(step, failed);
      continue;
    }
    const against = broken.reasonAgainst(step);
    // Signals are looked at between two paths only; a started path is finished.
    const outcome = run.signal?.aborted
      ? leave(step, 'skipped', 'interrupted')
      : against !== undefined
        ? leave(step, 'conflict', against)
        : await runStep(step, number, run, done).catch((error: unknown) => {
            if (DISK_CODES.has(codeOf(error))) throw new DiskFailure(error, done);
            return leave(step, error instanceof NotAFolder ? 'conflict' : 'failed', reasonOf(error));
          });
    outcomes.set(number, outcome);
    broken.note(step, outcome);
    noteInJournal(run.journal, number, outcome, done.get(number));
    if (number % 16 === 15) await new Promise((resolve) => setImmediate(resolve));
  }
  run.tell({ kind: 'progress-end', what });
  return outcomes;
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

async function runStep(
  step: Step,
  number: number,
  run: Run,
  done: Map<number, number | undefined>,
): Promise<ChangeOutcome> {
  const { pre, post } = step;
  // Nor is a mode alone ours to change where the file has a name outside the project.
  const elsewhere = pre?.kind === 'file' && pre.nlink > 1 && step.inPlace !== true;
  const content =
    post?.kind === 'file' && (elsewhere || pre?.digest !== post.digest)
      ? await stepContent(run.content, post)
      : undefined;
  const verdict = lookAgain(step, run);
  if (verdict === 'changed') return leave(step, 'conflict', 'changed on the host while applying');
  const { walker } = run;
  const tools = { walker, temp: `.rc-${run.token}-${number}`, content, cleared: verdict === 'cleared' };
  const found = run.resumed ? asFound(step, walker) : step;
  done.set(number, verdict === 'done' ? undefined : performStep(found, tools));
  return { path: step.path as RelPath, verdict: 'applied' };
}

/** A folder that an earlier process made, without its mode yet, is not made again. */
function asFound(step: Step, walker: HostWalker): Step {
  if (step.pre !== undefined || step.post?.kind !== 'dir') return step;
  const now = readHost(walker, step.path);
  return now === undefined ? step : { ...step, pre: now };
}

/**
 * The host against what the step expects. RACE: between this look and the rename a writer on the host can still slip
 * in; the kernel has no rename-if-unchanged.
 */
function lookAgain(step: Step, run: Run): 'go' | 'done' | 'changed' | 'cleared' {
  if (!run.resumed && step.pre !== undefined && step.pre.fingerprint === fingerprintHost(run.walker, step.path))
    return 'go';
  const now = readHost(run.walker, step.path);
  if (isUntouched(step, now)) return isDone(step, now) ? 'done' : 'go';
  if (run.resumed) {
    if (isDone(step, now)) return 'done';
    // What stood in the way of another kind was removed, and then we ended.
    if (now === undefined && step.post !== undefined && step.pre?.kind !== step.post.kind) return 'cleared';
    if (now?.kind === 'dir' && step.post?.kind === 'dir') return 'go';
    if (now?.kind === 'file' && step.post?.kind === 'file') {
      if (step.inPlace) return 'go';
      // Content is new but its mode is not yet: only where the two are set apart.
      if (now.digest === step.post.digest) return 'go';
    }
  }
  return 'changed';
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

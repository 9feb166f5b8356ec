import { Worker } from 'node:worker_threads';
import { fsPath } from '../../scan/walk.ts';
import { type CopierOptions, type CopyOutcome, type CopyTask, FileCopier } from './copy-file.ts';

/** One regular file to be copied. */
export interface CopyJob {
  /** Below the tree. */
  readonly path: string;
  /** On the host. */
  readonly source: string;
  readonly ino: number;
  readonly dev: number;
  readonly mode: number;
  /** In bytes, as the walk saw it. */
  readonly size: number;
}

export interface CopyOptions {
  /** The directory that `path` of each job is below. */
  readonly tree: string;
  /** Inside the container; undefined: as made. */
  readonly owner: { readonly uid: number; readonly gid: number } | undefined;
  progress(done: number): void;
  readonly signal: AbortSignal | undefined;
}

/** A job whose file was not copied as the walk saw it. */
export interface CopyFailure extends CopyOutcome {
  readonly path: string;
}

const WORKERS = 4;
/** The jobs that a thread gets at once. */
const BATCH: Limit = { files: 100, bytes: 64 << 20 };
/** Up to here the calling thread copies by itself: to start threads costs more, and other work on it waits only briefly. */
const INLINE: Limit = { files: 200, bytes: 8 << 20 };
/** A thread holds one batch; with Node's own limits four of them would take a quarter of the command's memory. */
const HEAP_LIMITS = { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 64 };

interface Limit {
  readonly files: number;
  readonly bytes: number;
}

/**
 * Copies the files by several threads: bytes (reflink where the disk has it), holes, mode, owner, times. A job is taken
 * from `jobs` when a thread is free, so only a few of a large tree are in memory at a time.
 */
export async function copyFiles(jobs: Iterable<CopyJob>, options: CopyOptions): Promise<readonly CopyFailure[]> {
  const { tree, owner } = options;
  const rest = jobs[Symbol.iterator]();
  const first = take(rest, INLINE);
  const second = rest.next();
  if (second.done === true && isWithin(first, INLINE)) {
    const copier = new FileCopier({ owner });
    return first.flatMap((job) => {
      const failure = copier.copy(taskOf(job, tree));
      return failure === undefined ? [] : [{ path: job.path, ...failure }];
    });
  }
  const crew = new CopyThreads(chain(first, second, rest), options);
  return crew.copyAll();
}

/** Threads that copy batches of jobs until there are none. */
class CopyThreads {
  readonly #jobs: Iterator<CopyJob>;
  readonly #options: CopyOptions;
  readonly #failures: CopyFailure[] = [];
  #done = 0;

  constructor(jobs: Iterator<CopyJob>, options: CopyOptions) {
    this.#jobs = jobs;
    this.#options = options;
  }

  async copyAll(): Promise<readonly CopyFailure[]> {
    await Promise.all(Array.from({ length: WORKERS }, () => this.#runThread()));
    return this.#failures;
  }

  async #runThread(): Promise<void> {
    const batch = this.#nextBatch();
    if (batch.length === 0) return;
    const { owner } = this.#options;
    const worker = new Worker(new URL('./copy-worker.cjs', import.meta.url), {
      resourceLimits: HEAP_LIMITS,
      workerData: { owner } satisfies CopierOptions,
    });
    try {
      await this.#copyBatches(worker, batch);
    } finally {
      await worker.terminate();
    }
  }

  /** Resolves when no job is left. Rejects with what ended the thread, and with the reason of an interruption. */
  #copyBatches(worker: Worker, first: readonly CopyJob[]): Promise<void> {
    let batch = first;
    return new Promise<void>((resolve, reject) => {
      const send = (): void => {
        if (batch.length === 0) resolve();
        else worker.postMessage(batch.map((job) => taskOf(job, this.#options.tree)));
      };
      worker.on('message', (outcomes: ReadonlyArray<CopyOutcome | undefined>) => {
        this.#report(batch, outcomes);
        try {
          batch = this.#nextBatch();
          send();
        } catch (error) {
          reject(error as Error);
        }
      });
      worker.on('error', reject);
      send();
    });
  }

  #report(batch: readonly CopyJob[], outcomes: ReadonlyArray<CopyOutcome | undefined>): void {
    for (const [i, outcome] of outcomes.entries()) {
      if (outcome !== undefined) this.#failures.push({ path: (batch[i] as CopyJob).path, ...outcome });
    }
    this.#done += batch.length;
    this.#options.progress(this.#done);
  }

  #nextBatch(): readonly CopyJob[] {
    this.#options.signal?.throwIfAborted();
    return take(this.#jobs, BATCH);
  }
}

function taskOf({ path, source, ino, dev, mode }: CopyJob, tree: string): CopyTask {
  return { source: fsPath(source), target: fsPath(`${tree}/${path}`), ino, dev, mode };
}

/** Takes jobs until a limit is reached or just passed. */
function take(from: Iterator<CopyJob>, { files, bytes }: Limit): CopyJob[] {
  const taken: CopyJob[] = [];
  for (let sum = 0; taken.length < files && sum < bytes; ) {
    const { done, value } = from.next();
    if (done === true) break;
    taken.push(value);
    sum += value.size;
  }
  return taken;
}

function isWithin(jobs: readonly CopyJob[], { files, bytes }: Limit): boolean {
  return jobs.length <= files && jobs.reduce((sum, { size }) => sum + size, 0) <= bytes;
}

function* chain(
  first: readonly CopyJob[],
  second: IteratorResult<CopyJob>,
  rest: Iterator<CopyJob>,
): Generator<CopyJob> {
  yield* first;
  for (let next = second; next.done !== true; next = rest.next()) yield next.value;
}

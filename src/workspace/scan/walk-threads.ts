import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Listed, ListOptions, ListTask } from './list-directories.ts';

/** Of the tasks that are left, those taken at once. */
export const TASKS_AT_ONCE = 32;
/** Small: what a thread makes is garbage with the next directory. */
const HEAP_LIMITS = { maxYoungGenerationSizeMb: 2 };
const MAX_THREADS = 3;

/**
 * Threads that help to list the directories of one tree: they take from `todo` and give to `onListed`. None runs before
 * start(). The calling thread lists too, so there is one fewer of them than processors.
 */
export class WalkThreads {
  readonly #options: ListOptions;
  readonly #todo: ListTask[];
  readonly #onListed: (listed: Listed) => void;
  readonly #workers: Worker[] = [];
  readonly #idle: Worker[] = [];
  #failure: Error | undefined;
  #wake: () => void = () => undefined;

  constructor(options: ListOptions, todo: ListTask[], onListed: (listed: Listed) => void) {
    this.#options = options;
    this.#todo = todo;
    this.#onListed = onListed;
  }

  /** Does nothing when the threads run already. */
  start(): void {
    if (this.#workers.length > 0) return;
    const count = Math.max(1, Math.min(MAX_THREADS, availableParallelism() - 1));
    for (let i = 0; i < count; i++) this.#startWorker();
  }

  /** Whether some thread has not given back its tasks yet. */
  get isBusy(): boolean {
    return this.#workers.length > this.#idle.length;
  }

  /** Gives idle threads some of the tasks: half of them, since the other threads, this one too, want some. */
  feed(): void {
    const todo = this.#todo;
    while (this.#idle.length > 0 && todo.length > 1) {
      this.#idle.pop()?.postMessage(todo.splice(0, Math.min(TASKS_AT_ONCE, Math.floor(todo.length / 2))));
    }
  }

  /** Resolves when a thread has given something back. Throws the error that ended a thread. */
  async next(): Promise<void> {
    if (this.#failure === undefined) await new Promise<void>((resolve) => (this.#wake = resolve));
    if (this.#failure !== undefined) throw this.#failure;
  }

  end(): void {
    for (const worker of this.#workers) void worker.terminate();
  }

  #startWorker(): void {
    const worker = new Worker(new URL('./list-worker.cjs', import.meta.url), {
      resourceLimits: HEAP_LIMITS,
      workerData: this.#options,
    });
    worker.on('message', (listed: Listed) => {
      this.#idle.push(worker);
      this.#onListed(listed);
      this.feed();
      this.#wake();
    });
    worker.on('error', (error) => {
      this.#failure = error;
      this.#wake();
    });
    this.#workers.push(worker);
    this.#idle.push(worker);
  }
}

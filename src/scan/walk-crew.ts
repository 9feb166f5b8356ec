import { availableParallelism } from 'node:os';
import type { Worker } from 'node:worker_threads';
import { startTextWorker } from '../host/text-worker.ts';
import { type Listed, type ListOptions, type ListTask, makeLister } from './list-directories.ts';
import { makePacker } from './packed-directory.ts';

/** Threads that help to list the directories of one tree. */
export interface Crew {
  /** From now on they take from `todo` and give to `took`. */
  start(): void;
  /** Whether something is still with one of them. */
  readonly busy: boolean;
  /** Gives idle ones some of what there is. */
  feed(): void;
  /** Settles when one has given something back. Throws what ended a thread. */
  next(): Promise<void>;
  end(): void;
}

/** What one gives back at once: the last to finish must not keep the others waiting. */
const BUDGET = 3000;
/** Of what is left to do, taken at once. */
export const TASKS = 32;
/** Small: what a thread makes is gone with the next directory. */
const HEAP = { maxYoungGenerationSizeMb: 2 };
const MOST = 3;

/** Threads for the tasks in `todo`, none before start(); this thread is the first hand, so there is one fewer. */
export function makeCrew(options: ListOptions, todo: ListTask[], took: (listed: Listed) => void): Crew {
  const workers: Worker[] = [];
  const idle: Worker[] = [];
  let [failure, wake]: [Error | undefined, () => void] = [undefined, () => undefined];

  const feed = (): void => {
    // Half of what there is: the others want some, this thread too.
    while (idle.length > 0 && todo.length > 1) {
      idle.pop()?.postMessage(todo.splice(0, Math.min(TASKS, Math.floor(todo.length / 2))));
    }
  };
  const hire = (body: string): void => {
    const worker = startTextWorker(body, options, HEAP);
    worker.on('message', (listed: Listed) => {
      idle.push(worker);
      took(listed);
      feed();
      wake();
    });
    worker.on('error', (error) => {
      failure = error;
      wake();
    });
    workers.push(worker);
    idle.push(worker);
  };
  return {
    start() {
      if (workers.length > 0) return;
      const body = `const packer = (${makePacker.toString()})();
const list = (${makeLister.toString()})(require('node:fs'), packer, data);
return (tasks) => list(tasks, ${BUDGET});`;
      const count = Math.max(1, Math.min(MOST, availableParallelism() - 1));
      for (let i = 0; i < count; i++) hire(body);
    },
    get busy() {
      return workers.length > idle.length;
    },
    feed,
    async next() {
      if (failure === undefined) await new Promise<void>((resolve) => (wake = resolve));
      if (failure !== undefined) throw failure;
    },
    end() {
      for (const worker of workers) void worker.terminate();
    },
  };
}

import { parentPort, workerData } from 'node:worker_threads';
import { DirectoryLister, type ListOptions, type ListTask } from './list-directories.ts';

// A thread of walk-threads.ts: gives what it listed for each message of tasks.

/** Entries that are given back at once: the thread that ends last must not keep the others waiting. */
const BUDGET = 3000;

const lister = new DirectoryLister(workerData as ListOptions);
parentPort?.on('message', (tasks: readonly ListTask[]) => parentPort?.postMessage(lister.list(tasks, BUDGET)));

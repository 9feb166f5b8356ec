import { parentPort, workerData } from 'node:worker_threads';
import { type CopierOptions, type CopyTask, FileCopier } from './copy-file.ts';

// A thread of copy-files.ts: gives the outcome of each task for each message of tasks.

const copier = new FileCopier(workerData as CopierOptions);
parentPort?.on('message', (tasks: readonly CopyTask[]) => {
  parentPort?.postMessage(tasks.map((task) => copier.copy(task)));
});

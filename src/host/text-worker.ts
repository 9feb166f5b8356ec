import { type ResourceLimits, Worker } from 'node:worker_threads';

/**
 * A thread that answers each message. It runs from text, so that one file holds the whole program: `body` gives a
 * function of the message, and knows nothing but `require` and `data`. What is put in of a function's own text may use
 * nothing but its arguments.
 */
export function startTextWorker(body: string, data: unknown, limits: ResourceLimits): Worker {
  const source = `const { parentPort, workerData: data } = require('node:worker_threads');
const __name = (f) => f;
const answer = (() => {${body}})();
parentPort.on('message', (asked) => parentPort.postMessage(answer(asked)));`;
  return new Worker(source, { eval: true, resourceLimits: limits, workerData: data });
}

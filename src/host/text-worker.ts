import { type ResourceLimits, Worker } from 'node:worker_threads';

/**
 * A thread that answers each message. It runs from text, so that the bundle is one program: `body` returns a function of
 * the message, and can use `require` and `data` only. A function whose source is inserted can use its arguments only.
 */
export function startTextWorker(body: string, data: unknown, limits: ResourceLimits): Worker {
  const source = `const { parentPort, workerData: data } = require('node:worker_threads');
const __name = (f) => f;
const answer = (() => {${body}})();
parentPort.on('message', (asked) => parentPort.postMessage(answer(asked)));`;
  return new Worker(source, { eval: true, resourceLimits: limits, workerData: data });
}

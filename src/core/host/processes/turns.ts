import { setImmediate as nextTurn } from 'node:timers/promises';

/** So long a loop keeps the process: a signal is heard after that. */
const MAX_TURN_MS = 50;

/**
 * For a loop over what an agent made: call the result in each round, and wait for it. It lets signals and timers be
 * handled now and then; what awaits only what is known already never does.
 *
 * @throws the reason of the signal, once it is aborted
 */
export function turnsOf(signal: AbortSignal | undefined): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    signal?.throwIfAborted();
    if (performance.now() - since < MAX_TURN_MS) return undefined;
    return nextTurn().then(() => {
      since = performance.now();
      signal?.throwIfAborted();
    });
  };
}

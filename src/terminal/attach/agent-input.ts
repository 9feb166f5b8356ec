import type { Readable } from 'node:stream';

/** Keys, and the terminal's answers to queries, that are still on their way when the agent ends. */
const LATE_KEYS_MS = 80;

/**
 * Pipes what is typed to the agent's program. `onKeys` gets it first and returns what of it the program gets. What the
 * program does not read yet is held, up to `maxHeldBytes`: a key behind it may answer a question of run-claude.
 */
export function pipeInput(
  source: Readable,
  target: NodeJS.WritableStream,
  { onKeys, maxHeldBytes }: { readonly onKeys: (typed: Buffer) => Buffer; readonly maxHeldBytes: number },
  undo: (() => void)[],
): void {
  let heldBytes = 0;
  const onData = (chunk: Buffer): void => {
    const passed = onKeys(chunk);
    if (passed.length === 0) return;
    heldBytes += passed.length;
    const flows = target.write(passed, () => {
      heldBytes -= passed.length;
    });
    if (flows || heldBytes < maxHeldBytes) return;
    source.pause();
    target.once('drain', () => source.resume());
  };
  const onEnd = (): void => {
    target.end();
  };
  source.on('data', onData);
  source.once('end', onEnd);
  // The program may end before its input does.
  target.on('error', () => undefined);
  source.resume();
  undo.push(() => {
    source.off('data', onData);
    source.off('end', onEnd);
    source.pause();
  });
}

/** Reads and drops what was typed, or answered by the terminal, while the agent ended. */
export async function discardKeys(stdin: Readable): Promise<void> {
  const drop = (): void => undefined;
  stdin.on('data', drop);
  stdin.resume();
  await new Promise((resolve) => {
    setTimeout(resolve, LATE_KEYS_MS).unref();
  });
  stdin.off('data', drop);
}

import { preloadPrompt } from './read-line.ts';
import type { Screen } from './screen.ts';

/** Where a key may be meant for the agent. */
export const SILENCE_MS = 500;
/** What the terminal holds arrives within this time. */
export const TYPED_AHEAD_MS = 30;

/**
 * Drops what was typed before, and waits until so long has passed without a key: a key that was meant for the agent, or for
 * an earlier question, answers no question. False at Ctrl-C, end of input or abort.
 */
export async function dropTyped(screen: Screen, silenceMs: number): Promise<boolean> {
  const { stdin } = screen;
  // Loaded by the time of the question, so that no key is lost in between.
  void preloadPrompt();
  const wasRaw = stdin.isRaw;
  stdin.setRawMode?.(true);
  const quiet = await new Promise<boolean>((resolve) => {
    let timer = setTimeout(() => done(true), silenceMs);
    const done = (result: boolean): void => {
      clearTimeout(timer);
      stdin.off('data', onData).off('end', onEnd).off('error', onEnd).off('close', onEnd);
      screen.interruption?.signal.removeEventListener('abort', onEnd);
      resolve(result);
    };
    const onData = (chunk: Buffer | string): void => {
      if (Buffer.from(chunk).includes(3)) {
        done(false);
        return;
      }
      clearTimeout(timer);
      timer = setTimeout(() => done(true), silenceMs);
    };
    const onEnd = (): void => done(false);
    stdin.on('data', onData).on('end', onEnd).on('error', onEnd).on('close', onEnd);
    screen.interruption?.signal.addEventListener('abort', onEnd);
    stdin.resume();
    if (screen.interruption?.signal.aborted || stdin.readableEnded || stdin.destroyed) done(false);
  });
  stdin.pause();
  if (!stdin.destroyed) stdin.setRawMode?.(wasRaw);
  return quiet;
}

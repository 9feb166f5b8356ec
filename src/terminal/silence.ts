import type { Screen } from './ask.ts';
import { preloadPrompt } from './read-line.ts';

const SILENCE_MS = 500;

/**
 * Drops what was typed before, and waits until half a second has passed without a key, so that a key meant for the
 * agent does not answer run-claude. False at Ctrl-C, end of input or abort.
 */
export async function waitForSilence(screen: Screen): Promise<boolean> {
  const { stdin } = screen;
  // Loaded by the time of the question, so that no key is lost in between.
  void preloadPrompt();
  const wasRaw = stdin.isRaw;
  stdin.setRawMode?.(true);
  const quiet = await new Promise<boolean>((resolve) => {
    let timer = setTimeout(() => done(true), SILENCE_MS);
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
      timer = setTimeout(() => done(true), SILENCE_MS);
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

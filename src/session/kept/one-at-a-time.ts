import { RunClaudeError } from '../../core/errors.ts';

/** A thing that is opened at its first use, and used by one caller after another. */
export interface OneAtATime<T> {
  /** Where a use fails, the thing is closed, and opened anew for the next one. @throws {RunClaudeError} SESSION_ENDED. */
  use<R>(work: (opened: T) => Promise<R>): Promise<R>;
  close(): Promise<void>;
}

/** Opens nothing yet. */
export function oneAtATime<T extends { close(): Promise<void> }>(open: () => Promise<T>): OneAtATime<T> {
  let current: Promise<T> | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let isClosed = false;
  const drop = async (): Promise<void> => {
    const opened = await current?.catch(() => undefined);
    current = undefined;
    await opened?.close();
  };
  const once = async <R>(work: (opened: T) => Promise<R>): Promise<R> => {
    if (isClosed) throw new RunClaudeError('SESSION_ENDED', 'the session has ended');
    try {
      current ??= open();
      return await work(await current);
    } catch (error) {
      await drop().catch(() => undefined);
      throw error;
    }
  };
  return {
    use(work) {
      const done = last.then(() => once(work));
      last = done.catch(() => undefined);
      return done;
    },
    async close() {
      isClosed = true;
      await drop();
    },
  };
}

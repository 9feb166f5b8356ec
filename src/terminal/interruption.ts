import { Interrupted, type StopSignal } from '../core/errors.ts';

/** What asked the command to stop, if anything did; shared by all of its stages. */
export interface Interruption {
  /** Aborts with an {@link Interrupted} at the first INT, TERM or HUP. */
  readonly signal: AbortSignal;
  by(): StopSignal | undefined;
  /** A signal that aborts at the next INT, TERM or HUP from now on, also where one came before. */
  next(): AbortSignal;
  /** Until disposed, Ctrl-C is for a question or a program on the terminal (a pager, an editor) and stops nothing. */
  lend(): Disposable;
}

const STOP_SIGNALS: readonly StopSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Listens until disposed. Stages end in order and nothing is lost. While the agent has the terminal in raw mode, Ctrl-C
 * is its own key and never comes here.
 */
export function listenForSignals(source: NodeJS.EventEmitter): Interruption & Disposable {
  const abort = new AbortController();
  let next = new AbortController();
  let lent = 0;
  const listeners = STOP_SIGNALS.map((name) => {
    const take = (): void => {
      if (name === 'SIGINT' && lent > 0) return;
      abort.abort(new Interrupted(name));
      const waiting = next;
      next = new AbortController();
      waiting.abort(new Interrupted(name));
    };
    return [name, take] as const;
  });
  for (const [name, take] of listeners) source.on(name, take);
  return {
    signal: abort.signal,
    next: () => next.signal,
    by: () => (abort.signal.reason instanceof Interrupted ? abort.signal.reason.by : undefined),
    lend() {
      lent += 1;
      return {
        [Symbol.dispose]() {
          lent -= 1;
        },
      };
    },
    [Symbol.dispose]() {
      for (const [name, take] of listeners) source.off(name, take);
    },
  };
}

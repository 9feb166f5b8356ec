import type { SessionEvent, Tell } from '../types/event.ts';
import { LastLine } from './last-line.ts';

type ProgressEvent = Extract<SessionEvent, { kind: 'progress' }>;

/** How much is done, where that can be counted. */
export type Amount = Pick<ProgressEvent, 'done' | 'total' | 'unit'>;

/** Work that the user waits for. Its end must be reported, whatever happens: hold it with `using`. */
export interface OpenProgress extends Disposable {
  /** With a detail that replaces the last one, where there is one. */
  count(amount: Amount, detail?: string): void;
  /** A piece of what a program printed: its last line is the detail. */
  output(piece: Uint8Array | string): void;
}

/**
 * Reports from now on, until it is disposed, that `what` is being done: 'Building the image'. Who shows it adds the elapsed time.
 */
export function openProgress(tell: Tell, what: string): OpenProgress {
  let amount: Amount = {};
  let detail: string | undefined;
  const lines = new LastLine();
  const report = (): void => tell({ kind: 'progress', what, ...amount, ...(detail === undefined ? {} : { detail }) });
  report();
  return {
    count(next, named = detail) {
      amount = next;
      detail = named;
      report();
    },
    output(piece) {
      if (!lines.push(piece)) return;
      detail = lines.line;
      report();
    },
    [Symbol.dispose]() {
      tell({ kind: 'progress-end', what });
    },
  };
}

/** As {@link openProgress}, while the body runs. */
export async function withProgress<T>(tell: Tell, what: string, body: () => Promise<T>): Promise<T> {
  using _progress = openProgress(tell, what);
  return await body();
}

import type { Writable } from 'node:stream';
import type { TerminalFilter } from './filter.ts';

/** How long a stream may be silent once the container has ended: the engine has closed it by then, as a rule. */
const DRAIN_MS = 3000;

/** One stream on its way to the person. */
export interface Poured {
  readonly ended: Promise<void>;
  /** Whether it waits for its reader, or something came since it was last asked. */
  isBusy(): boolean;
  /** While held, nothing is written to the target; the source waits. */
  hold(on: boolean): void;
}

/** Waits for the rest of the output as long as its reader takes, unless somebody is tired of that. */
export async function drain(streams: readonly Poured[], isInterrupted: () => boolean): Promise<void> {
  const all = Promise.all(streams.map(({ ended }) => ended)).then(() => true);
  while (!(await Promise.race([all, aWhile()]))) {
    const busy = streams.filter((one) => one.isBusy());
    if (busy.length === 0 || isInterrupted()) return;
  }
}

/**
 * Copies with backpressure. When nobody reads the target any more the rest is read and dropped. `before` is called before
 * each write, with what will be written.
 */
export function pour(
  source: NodeJS.ReadableStream,
  target: Writable,
  {
    filter,
    before = () => undefined,
  }: { readonly filter: TerminalFilter | undefined; readonly before?: ((passed: Buffer) => void) | undefined },
  undo: (() => void)[],
): Poured {
  let broken = false;
  let held = false;
  let onHold = false;
  let came = false;
  const ended = new Promise<void>((resolve) => {
    const onData = (chunk: Buffer): void => {
      came = true;
      const passed = filter === undefined ? chunk : filter.write(chunk);
      if (broken || passed.length === 0) return;
      before(passed);
      if (target.write(passed)) return;
      held = true;
      source.pause();
      target.once('drain', () => {
        held = false;
        if (!onHold) source.resume();
      });
    };
    const onBroken = (): void => {
      broken = true;
      held = false;
      if (!onHold) source.resume();
    };
    const onEnd = (): void => resolve();
    target.on('error', onBroken);
    source.on('data', onData);
    for (const event of ['end', 'close', 'error']) source.on(event, onEnd);
    undo.push(() => {
      target.off('error', onBroken);
      source.removeListener('data', onData);
      // The listener for errors stays: a connection that breaks after the end is no fault.
      for (const event of ['end', 'close']) source.removeListener(event, onEnd);
    });
  });
  const isBusy = (): boolean => {
    const busy = held || came;
    came = false;
    return busy;
  };
  const hold = (on: boolean): void => {
    onHold = on;
    if (on) source.pause();
    else if (!held) source.resume();
  };
  return { ended, isBusy, hold };
}

function aWhile(): Promise<false> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(false), DRAIN_MS).unref();
  });
}

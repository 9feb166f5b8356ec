import type { Writable } from 'node:stream';
import type { TerminalFilter } from './filter.ts';

/** How long a stream may be silent once the container has ended: the engine has usually closed it by then. */
const DRAIN_MS = 3000;

/** One of the agent's streams while it is copied to the user's. */
export interface OutputCopy {
  readonly ended: Promise<void>;
  /** Whether its reader is behind, or output arrived since the last call. */
  isBusy(): boolean;
  /** While held, nothing is written to the target and the source is paused. */
  hold(isHeld: boolean): void;
}

/** Waits for the rest of the output as long as its reader takes, until `isInterrupted`. */
export async function drain(copies: readonly OutputCopy[], isInterrupted: () => boolean): Promise<void> {
  const all = Promise.all(copies.map(({ ended }) => ended)).then(() => true);
  while (!(await Promise.race([all, silence()]))) {
    const busy = copies.filter((one) => one.isBusy());
    if (busy.length === 0 || isInterrupted()) return;
  }
}

export interface CopyOptions {
  readonly filter: TerminalFilter | undefined;
  /** Called before each write, with what will be written. */
  readonly before?: ((passed: Buffer) => void) | undefined;
  /** Whether what arrived may be written; otherwise it is dropped. */
  readonly mayShow?: (() => boolean) | undefined;
}

/** Copies with backpressure. When the target is closed the rest is read and dropped. */
export function copyOutput(
  source: NodeJS.ReadableStream,
  target: Writable,
  { filter, before = () => undefined, mayShow }: CopyOptions,
  undo: (() => void)[],
): OutputCopy {
  let isClosed = false;
  let isFull = false;
  let isHeld = false;
  let hasArrived = false;
  const ended = new Promise<void>((resolve) => {
    const pass = (chunk: Buffer): void => {
      if (mayShow?.() === false) return;
      const passed = filter === undefined ? chunk : filter.write(chunk);
      if (isClosed || passed.length === 0) return;
      before(passed);
      if (target.write(passed)) return;
      isFull = true;
      source.pause();
      target.once('drain', () => {
        isFull = false;
        if (!isHeld) source.resume();
      });
    };
    // What may not be shown is known once all that has happened until now was handled: in the next turn.
    const later = mayShow === undefined ? (step: () => void) => step() : setImmediate;
    const onData = (chunk: Buffer): void => {
      hasArrived = true;
      later(() => pass(chunk));
    };
    const onClosed = (): void => {
      isClosed = true;
      isFull = false;
      if (!isHeld) source.resume();
    };
    const onEnd = (): void => void later(resolve);
    target.on('error', onClosed);
    source.on('data', onData);
    for (const event of ['end', 'close', 'error']) source.on(event, onEnd);
    undo.push(() => {
      target.off('error', onClosed);
      source.removeListener('data', onData);
      // The listener for errors stays: a connection may break after the end.
      for (const event of ['end', 'close']) source.removeListener(event, onEnd);
    });
  });
  return {
    ended,
    isBusy() {
      const isBusy = isFull || hasArrived;
      hasArrived = false;
      return isBusy;
    },
    hold(toHold) {
      isHeld = toHold;
      if (isHeld) source.pause();
      else if (!isFull) source.resume();
    },
  };
}

function silence(): Promise<false> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(false), DRAIN_MS).unref();
  });
}

import { writeSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import type { Container } from '../types/engine.ts';
import { createTerminalFilter, type TerminalFilter } from './filter.ts';
import { drain, type Poured, pour } from './pour.ts';

/** The person's end: process.stdin and its like, or streams of a test. */
export interface TerminalStreams {
  readonly stdin: Readable & { readonly isTTY?: boolean; readonly isRaw?: boolean; setRawMode?(raw: boolean): unknown };
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
}

type OutputStream = Writable & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  readonly fd?: number;
};

export interface AttachOptions {
  readonly streams: TerminalStreams;
  /** A terminal of its own for the agent: raw keys in, one filtered stream out. */
  readonly tty: boolean;
  /** Pass stdin in (needs a spec with stdin 'stream'); otherwise the program finds its end. */
  readonly stdin: boolean;
  /** Where INT, TERM and HUP arrive; process. */
  readonly signals: SignalSource;
  /** It ran before, on another terminal: it is to draw its screen anew, and {@link LETS_GO} lets go of it. */
  readonly again?: boolean;
  /** Sees what is typed first and gives what of it is the program's: the rest answers a question of ours. */
  readonly keys?: (typed: Buffer) => Buffer;
}

/** What docker's own attach is left by. The agent gets the first of the two, since it is a key by itself. */
const LETS_GO: readonly number[] = [0x10, 0x11];

interface SignalSource {
  on(signal: NodeJS.Signals | 'exit', listener: () => void): unknown;
  off(signal: NodeJS.Signals | 'exit', listener: () => void): unknown;
}

export interface AttachOutcome {
  /** The agent's own exit status; undefined: it was let go of, and runs on. */
  readonly status: number | undefined;
  /** The first signal that reached us and was passed to the agent. */
  readonly signal: NodeJS.Signals | undefined;
  /** Pieces of output that were not passed to the terminal, by reason. */
  readonly dropped: Readonly<Record<string, number>>;
}

const PASSED_SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** Keys and answers still on their way when the agent ends; they are nobody's. */
const SETTLE_MS = 80;
/** More than anybody types or pastes ahead of a program that does not read. */
const TYPED_BYTES = 16 * 1024 ** 2;
/** Between two sizes of which a program is to notice the first. */
const REDRAW_MS = 500;

/**
 * Starts the container and joins it to the person's terminal until it ends. Whatever happened, listeners are gone,
 * raw mode is off and the terminal's state is as before on return; a process that ends meanwhile does the same from its
 * exit handler. Output to a terminal passes the filter; output to a file or pipe is passed byte for byte.
 *
 * @throws what start() and wait() throw.
 */
export async function attachTerminal(container: Container, options: AttachOptions): Promise<AttachOutcome> {
  const { streams, tty } = options;
  const undo: (() => void)[] = [];
  const filters = new Map<OutputStream, TerminalFilter>();
  let signal: NodeJS.Signals | undefined;

  const output = (source: NodeJS.ReadableStream, target: OutputStream): Poured => {
    const filter = target.isTTY === true || tty ? (filters.get(target) ?? createTerminalFilter()) : undefined;
    if (filter !== undefined) filters.set(target, filter);
    return pour(source, target, filter, undo);
  };

  const raw = tty && options.stdin && streams.stdin.isTTY === true && streams.stdin.setRawMode !== undefined;
  const wasRaw = streams.stdin.isRaw === true;
  /** Without the event loop: also the last thing a process that is ending does. */
  const restoreNow = (): void => {
    if (raw) streams.stdin.setRawMode?.(wasRaw);
    for (const [target, filter] of filters) {
      if (target.isTTY === true && target.fd !== undefined) writeAll(target.fd, filter.end());
    }
  };

  try {
    const poured = [output(container.stdout, streams.stdout)];
    if (!tty) poured.push(output(container.stderr, streams.stderr));
    listen(options.signals, 'exit', restoreNow, undo);
    for (const one of PASSED_SIGNALS) {
      const pass = (): void => {
        signal ??= one;
        // A failure to pass it on shows in wait(); a second press tries again.
        container.kill(one).catch(() => undefined);
      };
      listen(options.signals, one, pass, undo);
    }
    if (raw) streams.stdin.setRawMode?.(true);
    await container.start();
    // One that came before there was anything to tell it to.
    if (signal !== undefined) container.kill(signal).catch(() => undefined);
    if (tty) followSize(container, streams.stdout, options.again === true, undo);
    let letGo: () => void = () => undefined;
    const wasLetGo = new Promise<undefined>((resolve) => {
      letGo = () => resolve(undefined);
    });
    const ours = options.keys ?? ((typed: Buffer) => typed);
    const watched = options.again && tty ? watchKeys(letGo) : undefined;
    const onKeys = (typed: Buffer): Buffer => (watched === undefined ? ours(typed) : watched(ours(typed)));
    const mayHoldBytes = raw ? TYPED_BYTES : 0;
    if (options.stdin && container.stdin !== undefined)
      pipeInput(streams.stdin, container.stdin, { onKeys, mayHoldBytes }, undo);
    else container.stdin?.end();
    const status = await Promise.race([container.wait(), wasLetGo]);
    if (status !== undefined) await drain(poured, () => signal !== undefined);
    const dropped: Record<string, number> = {};
    for (const filter of filters.values()) {
      for (const [reason, count] of Object.entries(filter.dropped())) dropped[reason] = (dropped[reason] ?? 0) + count;
    }
    return { status, signal, dropped };
  } finally {
    while (undo.length > 0) undo.pop()?.();
    if (raw) await discardKeys(streams.stdin);
    if (raw) streams.stdin.setRawMode?.(wasRaw);
    for (const [target, filter] of filters) {
      const restoring = filter.end();
      if (target.isTTY === true && target.writable)
        await new Promise<void>((done) => target.write(restoring, () => done()));
    }
    streams.stdin.pause();
  }
}

function listen(
  source: SignalSource,
  event: NodeJS.Signals | 'exit',
  listener: () => void,
  undo: (() => void)[],
): void {
  source.on(event, listener);
  undo.push(() => source.off(event, listener));
}

/**
 * `onKeys` sees what is typed and gives what of it the program gets. What the program does not read yet is held, up to
 * `mayHoldBytes`: what comes behind it may be an answer of ours.
 */
function pipeInput(
  source: Readable,
  target: NodeJS.WritableStream,
  { onKeys, mayHoldBytes }: { onKeys: (typed: Buffer) => Buffer; mayHoldBytes: number },
  undo: (() => void)[],
): void {
  let held = 0;
  const onData = (chunk: Buffer): void => {
    const passed = onKeys(chunk);
    if (passed.length === 0) return;
    held += passed.length;
    const flows = target.write(passed, () => {
      held -= passed.length;
    });
    if (flows || held < mayHoldBytes) return;
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

/** Calls `letGo` at the keys that say so, whichever pieces they come in; those after them are nobody's. */
function watchKeys(letGo: () => void): (typed: Buffer) => Buffer {
  let last: number | undefined;
  let gone = false;
  return (typed) => {
    if (gone) return Buffer.alloc(0);
    for (const [at, key] of typed.entries()) {
      if (last === LETS_GO[0] && key === LETS_GO[1]) {
        gone = true;
        letGo();
        return typed.subarray(0, at);
      }
      last = key;
    }
    return typed;
  };
}

function followSize(container: Container, screen: OutputStream, redraw: boolean, undo: (() => void)[]): void {
  const tell = async (moreRows = 0): Promise<void> => {
    if (screen.columns === undefined || screen.rows === undefined) return;
    // The container may be ending: the size is of no use to it then.
    await container.resize(screen.columns, screen.rows + moreRows).catch(() => undefined);
  };
  const onResize = (): void => void tell();
  screen.on('resize', onResize);
  undo.push(() => screen.off('resize', onResize));
  // The kernel tells the program of another size only, and the program may look at it late.
  if (redraw)
    void tell(1)
      .then(() => delay(REDRAW_MS))
      .then(onResize);
  else onResize();
}

/** Reads and forgets what was typed, or answered by the terminal, while the agent ended. */
async function discardKeys(stdin: Readable): Promise<void> {
  const forget = (): void => undefined;
  stdin.on('data', forget);
  stdin.resume();
  await delay(SETTLE_MS);
  stdin.off('data', forget);
}

function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds).unref();
  });
}

function writeAll(fd: number, bytes: Buffer): void {
  try {
    writeSync(fd, bytes);
  } catch (error) {
    // The terminal is gone, or full: there is no state left to put back.
    if (!['EIO', 'EPIPE', 'EAGAIN', 'EBADF'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

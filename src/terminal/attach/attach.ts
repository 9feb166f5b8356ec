import { writeSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import type { Container } from '../../types/engine.ts';
import { createTerminalFilter, type TerminalFilter } from './filter.ts';
import { drain, type Poured, pour } from './stream.ts';
import { watchKeys, watchSuspendKey } from './typed-keys.ts';
import { followSize } from './window-size.ts';

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
  /** It ran before, on another terminal: it is to draw its screen anew, and Ctrl-P Ctrl-Q lets go of it. */
  readonly again?: boolean;
  /** Sees what is typed first and gives what of it is the program's: the rest answers a question of ours. */
  readonly keys?: (typed: Buffer) => Buffer;
  /**
   * Stops this process and its group until SIGCONT, as a shell's job. Returns at once where no shell would resume it.
   * Without it, an agent that stops itself is woken at once.
   */
  readonly suspend?: () => void;
  /** Called once the agent has the terminal. */
  readonly attached?: (terminal: AttachedTerminal) => void;
  /** Called before each piece of the agent's output that goes to a terminal. */
  readonly beforeOutput?: (passed: Buffer) => void;
}

/** The user's terminal while the agent has it. */
export interface AttachedTerminal {
  /** Shows these lines on a screen of their own and holds the agent's output back. */
  showOver(lines: readonly string[]): void;
  /** Brings the agent's screen back. */
  showAgent(): void;
}

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
/** A stop of the whole group reaches every thread within that. */
const STOPPING_MS = 50;

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

  const raw = tty && options.stdin && streams.stdin.isTTY === true && streams.stdin.setRawMode !== undefined;
  const wasRaw = streams.stdin.isRaw === true;
  const suspendKey = watchSuspendKey();
  let poured: readonly Poured[] = [];
  let redraw: () => void = () => undefined;
  /** The shell above has the terminal: nothing may be read from it. */
  let isSuspended = false;

  const output = (source: NodeJS.ReadableStream, target: OutputStream): Poured => {
    // What came in the same piece of output is written first.
    const onStopped = (): void => void setImmediate(() => void takeStop());
    const filter = target.isTTY === true || tty ? (filters.get(target) ?? createTerminalFilter(onStopped)) : undefined;
    if (filter !== undefined) filters.set(target, filter);
    return pour(source, target, { filter, before: target.isTTY === true ? options.beforeOutput : undefined }, undo);
  };
  const write = (bytesOf: (filter: TerminalFilter) => Buffer): void => {
    const filter = filters.get(streams.stdout);
    if (filter !== undefined && streams.stdout.isTTY === true) writeTo(streams.stdout, bytesOf(filter));
  };
  const hold = (on: boolean): void => {
    for (const one of poured) one.hold(on);
  };

  /** The agent's program stopped itself: so do we, when the user asked for it; otherwise it goes on. */
  const takeStop = async (): Promise<void> => {
    if (raw && options.suspend !== undefined && suspendKey.wasPressed() && signal === undefined && !isSuspended) {
      isSuspended = true;
      hold(true);
      streams.stdin.pause();
      streams.stdin.setRawMode?.(wasRaw);
      write((filter) => filter.leave());
      options.suspend();
      await delay(STOPPING_MS);
      // A signal ended the session while the shell had the terminal: the shell keeps it.
      if (signal === undefined) {
        // In the background this stops us again, until the user brings us back.
        streams.stdin.setRawMode?.(true);
        isSuspended = false;
        streams.stdin.resume();
      }
      write((filter) => filter.enter());
      hold(false);
    }
    await container.kill('SIGCONT').catch(() => undefined);
    redraw();
  };
  let isOver = false;
  const closeOver = (): void => {
    if (isOver) write(() => Buffer.from('\x1b[0m\x1b[?1049l'));
    isOver = false;
  };
  const terminal: AttachedTerminal = {
    showOver(lines) {
      hold(true);
      isOver = true;
      // Saves the cursor of an agent that draws on the first screen; the other screen is drawn anew afterwards.
      write((filter) => Buffer.concat([Buffer.from('\x1b[?1049h'), filter.leave(), Buffer.from('\x1b[?1049h')]));
      const shown = lines.map((line) => `${line}\r\n`).join('');
      writeTo(streams.stdout, Buffer.from(`\x1b[H\x1b[2J\r\n${shown}`));
    },
    showAgent() {
      closeOver();
      write((filter) => filter.enter());
      hold(false);
      redraw();
    },
  };

  /** Without the event loop: also the last thing a process that is ending does. */
  const restoreNow = (): void => {
    if (raw) streams.stdin.setRawMode?.(wasRaw);
    closeOver();
    for (const [target, filter] of filters) {
      if (target.isTTY === true && target.fd !== undefined) writeAll(target.fd, filter.end());
    }
  };

  try {
    poured = [output(container.stdout, streams.stdout)];
    if (!tty) poured = [...poured, output(container.stderr, streams.stderr)];
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
    if (tty) redraw = followSize(container, streams.stdout, { redrawNow: options.again === true }, undo);
    // It may have stopped while no command was there to see it.
    if (tty && options.again) await container.kill('SIGCONT').catch(() => undefined);
    if (tty) options.attached?.(terminal);
    let letGo: () => void = () => undefined;
    const wasLetGo = new Promise<undefined>((resolve) => {
      letGo = () => resolve(undefined);
    });
    const ours = options.keys ?? ((typed: Buffer) => typed);
    const watched = options.again && tty ? watchKeys(letGo) : undefined;
    const onKeys = (typed: Buffer): Buffer => {
      const passed = watched === undefined ? ours(typed) : watched(ours(typed));
      suspendKey.note(passed);
      return passed;
    };
    const mayHoldBytes = raw ? TYPED_BYTES : 0;
    if (options.stdin && container.stdin !== undefined)
      pipeInput(streams.stdin, container.stdin, { onKeys, mayHoldBytes }, undo);
    else container.stdin?.end();
    const status = await Promise.race([container.wait(), wasLetGo]);
    if (isOver) terminal.showAgent();
    if (status !== undefined) await drain(poured, () => signal !== undefined);
    const dropped: Record<string, number> = {};
    for (const filter of filters.values()) {
      for (const [reason, count] of Object.entries(filter.dropped())) dropped[reason] = (dropped[reason] ?? 0) + count;
    }
    return { status, signal, dropped };
  } finally {
    while (undo.length > 0) undo.pop()?.();
    if (raw && !isSuspended) await discardKeys(streams.stdin);
    if (raw) streams.stdin.setRawMode?.(wasRaw);
    closeOver();
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

/** At once where there is a descriptor: what follows may stop this process. */
function writeTo(target: OutputStream, bytes: Buffer): void {
  if (target.fd === undefined) target.write(bytes);
  else writeAll(target.fd, bytes);
}

function writeAll(fd: number, bytes: Buffer): void {
  try {
    writeSync(fd, bytes);
  } catch (error) {
    // The terminal is gone, or full: there is no state left to put back.
    if (!['EIO', 'EPIPE', 'EAGAIN', 'EBADF'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

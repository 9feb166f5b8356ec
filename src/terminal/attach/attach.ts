import type { Container } from '../../types/engine.ts';
import { discardKeys, pipeInput } from './agent-input.ts';
import { drain } from './stream.ts';
import { watchDetachKeys, watchSuspendKey } from './typed-keys.ts';
import { createUserTerminal, type TerminalStreams } from './user-terminal.ts';
import { followSize } from './window-size.ts';

export type { TerminalStreams } from './user-terminal.ts';

export interface TerminalAttachOptions {
  readonly streams: TerminalStreams;
  /** A terminal of its own for the agent: raw keys in, one filtered stream out. */
  readonly tty: boolean;
  /** Pass stdin in (needs a spec with stdin 'stream'); otherwise the program reads end of file. */
  readonly stdin: boolean;
  /** Where INT, TERM and HUP arrive; process. */
  readonly signals: SignalSource;
  /** It ran before, on another terminal: it draws its screen anew, and Ctrl-P Ctrl-Q detaches from it. */
  readonly isReattached?: boolean;
  /** Gets what is typed first and returns what of it the program gets; the rest answers a question of run-claude. */
  readonly onKeys?: (typed: Buffer) => Buffer;
  /**
   * Stops this process and its group until SIGCONT, as a shell's job. Returns at once where no shell would resume it.
   * Without it, an agent that stops itself is woken at once.
   */
  readonly suspend?: () => void;
  /** Called once the agent has the terminal. */
  readonly onAttached?: (terminal: AttachedTerminal) => void;
  /** Called before each write of the agent's output to a terminal. */
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
  /** The agent's own exit status; undefined: detached, the agent still runs. */
  readonly status: number | undefined;
  /** The first signal that run-claude received and passed to the agent. */
  readonly signal: NodeJS.Signals | undefined;
  /** Pieces of output that were not passed to the terminal, by reason. */
  readonly dropped: Readonly<Record<string, number>>;
}

const PASSED_SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** More than a user types or pastes ahead of a program that does not read. */
const MAX_TYPED_BYTES = 16 * 1024 ** 2;
/** A stop of the whole process group reaches every thread within that. */
const STOPPING_MS = 50;

/**
 * Starts the container and attaches it to the user's terminal until it ends. Whatever happened, listeners are removed,
 * raw mode is off and the terminal's state is as before on return; a process that ends in the meantime does the same
 * from its exit handler. Output to a terminal passes the filter; output to a file or pipe is passed byte for byte.
 *
 * @throws what start() and wait() throw.
 */
export async function attachTerminal(container: Container, options: TerminalAttachOptions): Promise<AttachOutcome> {
  const { streams, tty } = options;
  const { stdin } = streams;
  const raw = tty && options.stdin && stdin.isTTY === true && stdin.setRawMode !== undefined;
  const undo: (() => void)[] = [];
  const suspendKey = watchSuspendKey();
  let signal: NodeJS.Signals | undefined;
  let redraw: () => void = () => undefined;

  const terminal = createUserTerminal({
    streams,
    tty,
    raw,
    beforeOutput: options.beforeOutput,
    // What came in the same piece of output is written first.
    onStopped: () => void setImmediate(() => void onStopped()),
  });
  /** The agent's program stopped itself: so does run-claude, when the user asked for it; otherwise it is woken. */
  const onStopped = async (): Promise<void> => {
    const isAsked = raw && signal === undefined && suspendKey.wasPressed() && terminal.holder() !== 'shell';
    if (isAsked && options.suspend !== undefined) {
      terminal.giveToShell();
      options.suspend();
      await delay(STOPPING_MS);
      // A signal ended the session while the shell had the terminal: the shell keeps it.
      terminal.takeFromShell(signal === undefined);
    }
    await container.kill('SIGCONT').catch(() => undefined);
    redraw();
  };
  const onSignal = (received: NodeJS.Signals): void => {
    signal ??= received;
    // A failure to pass it on shows in wait(); a second press tries again.
    container.kill(received).catch(() => undefined);
  };

  try {
    terminal.connect(container.stdout, streams.stdout);
    if (!tty) terminal.connect(container.stderr, streams.stderr);
    listen(options.signals, 'exit', () => terminal.restoreNow(), undo);
    for (const one of PASSED_SIGNALS) listen(options.signals, one, () => onSignal(one), undo);
    terminal.setRaw();
    await container.start();
    // One that came before the container could receive it.
    if (signal !== undefined) container.kill(signal).catch(() => undefined);
    if (tty) {
      redraw = followSize(container, streams.stdout, { redrawNow: options.isReattached === true }, undo);
      // It may have stopped while no command was attached.
      if (options.isReattached) await container.kill('SIGCONT').catch(() => undefined);
      options.onAttached?.({
        showOver: (lines) => terminal.showLines(lines),
        showAgent() {
          terminal.showAgent();
          redraw();
        },
      });
    }
    const { detached, onDetach } = detachment();
    const answered = options.onKeys ?? ((typed: Buffer) => typed);
    const watched = options.isReattached && tty ? watchDetachKeys(onDetach) : (typed: Buffer) => typed;
    const onKeys = (typed: Buffer): Buffer => {
      const passed = watched(answered(typed));
      suspendKey.note(passed);
      return passed;
    };
    if (options.stdin && container.stdin !== undefined)
      pipeInput(stdin, container.stdin, { onKeys, maxHeldBytes: raw ? MAX_TYPED_BYTES : 0 }, undo);
    else container.stdin?.end();
    const status = await Promise.race([container.wait(), detached]);
    if (terminal.holder() === 'run-claude') {
      terminal.showAgent();
      redraw();
    }
    if (status !== undefined) await drain(terminal.copies, () => signal !== undefined);
    return { status, signal, dropped: terminal.dropped() };
  } finally {
    while (undo.length > 0) undo.pop()?.();
    terminal.disconnect();
    if (raw && terminal.holder() !== 'shell') await discardKeys(stdin);
    await terminal.restore();
  }
}

/** A promise of undefined that `onDetach` fulfils. */
function detachment(): { readonly detached: Promise<undefined>; readonly onDetach: () => void } {
  let onDetach: () => void = () => undefined;
  const detached = new Promise<undefined>((resolve) => {
    onDetach = () => resolve(undefined);
  });
  return { detached, onDetach };
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

function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds).unref();
  });
}

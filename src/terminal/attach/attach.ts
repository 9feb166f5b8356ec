import type { Container, InsideProgram } from '../../core/types/engine.ts';
import { discardKeys, pipeInput } from './agent-input.ts';
import { drain } from './stream.ts';
import { watchDetachKeys, watchSuspendKey } from './typed-keys.ts';
import { type TerminalStreams, UserTerminal } from './user-terminal.ts';
import { followSize } from './window-size.ts';

export type { OutputStream, TerminalStreams } from './user-terminal.ts';

export interface TerminalAttachOptions {
  readonly streams: TerminalStreams;
  /** Its own terminal for the agent: raw keys in, one filtered stream out. */
  readonly tty: boolean;
  /** Pass stdin in (needs a spec with stdin 'stream'); otherwise the program reads end of file. */
  readonly stdin: boolean;
  /** Where INT, TERM and HUP arrive; process. */
  readonly signals: SignalSource;
  /** The program ran before, on another terminal: it draws its screen anew, and Ctrl-P Ctrl-Q detaches from it. */
  readonly isReattached?: boolean;
  /** Gets the typed bytes first and returns those for the program; the rest answers a question of run-claude. */
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
  /**
   * Asked before each write of the agent's output, to a terminal or not, one turn of the event loop after it arrived: output
   * that may not be shown is dropped.
   */
  readonly mayShow?: () => boolean;
}

/** The user's terminal while the agent has it. */
export interface AttachedTerminal {
  /** Shows these lines on their own screen and holds the agent's output back. */
  showOver(lines: readonly string[]): void;
  /** Brings the agent's screen back. */
  showAgent(): void;
  /** What sets the modes of a further terminal as the agent has set those of this one. */
  modes(): Buffer;
}

/** The container of an agent, or a program that was started in one. */
type AttachedProgram = Omit<InsideProgram, 'close' | 'resize'> & Pick<Container, 'resize'>;

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
/** A stop of the whole process group reaches every thread within this time. */
const STOP_WITHIN_MS = 50;

/**
 * Starts the container and attaches it to the user's terminal until it ends. Whatever happened, listeners are removed,
 * raw mode is off and the terminal's state is as before on return; a process that ends in the meantime does the same
 * from its exit handler. Output to a terminal passes the filter; output to a file or pipe is passed byte for byte.
 *
 * @throws what start() and wait() throw.
 */
export async function attachTerminal(
  container: AttachedProgram,
  options: TerminalAttachOptions,
): Promise<AttachOutcome> {
  const attachment = new Attachment(container, options);
  try {
    await attachment.start();
    return await attachment.untilEnd();
  } finally {
    await attachment.release();
  }
}

/** One container while it is attached to the user's terminal. */
class Attachment {
  readonly #container: AttachedProgram;
  readonly #options: TerminalAttachOptions;
  /** Keys reach the agent as they are pressed. */
  readonly #isRaw: boolean;
  readonly #terminal: UserTerminal;
  readonly #suspendKey = watchSuspendKey();
  readonly #undo: (() => void)[] = [];
  /** The first signal that was received. */
  #signal: NodeJS.Signals | undefined;
  /** Makes the agent draw its screen again, once it is attached to its own terminal. */
  #redraw: () => void = () => undefined;

  constructor(container: AttachedProgram, options: TerminalAttachOptions) {
    const { streams, tty, beforeOutput, mayShow } = options;
    const { stdin } = streams;
    this.#container = container;
    this.#options = options;
    this.#isRaw = tty && options.stdin && stdin.isTTY === true && stdin.setRawMode !== undefined;
    this.#terminal = new UserTerminal({
      streams,
      tty,
      raw: this.#isRaw,
      beforeOutput,
      mayShow,
      // Output that arrived in the same piece is written first.
      onStopped: () => void setImmediate(() => void this.#onStopped()),
    });
  }

  /** Starts the container, with its output, the signals and the size of the window connected. */
  async start(): Promise<void> {
    const { streams, tty, signals, isReattached } = this.#options;
    const { stdout, stderr } = this.#container;
    this.#terminal.connect(stdout, streams.stdout);
    if (!tty) this.#terminal.connect(stderr, streams.stderr);
    listen(signals, 'exit', () => this.#terminal.restoreNow(), this.#undo);
    for (const one of PASSED_SIGNALS) listen(signals, one, () => this.#onSignal(one), this.#undo);
    this.#terminal.setRaw();
    await this.#container.start();
    // One that came before the container could receive it.
    if (this.#signal !== undefined) this.#container.kill(this.#signal).catch(() => undefined);
    if (!tty) return;
    const redrawNow = isReattached === true;
    this.#redraw = followSize(this.#container, streams.stdout, { redrawNow }, this.#undo);
    // It may have stopped while no command was attached.
    if (isReattached) await this.#container.kill('SIGCONT').catch(() => undefined);
    this.#options.onAttached?.({
      showOver: (lines) => this.#terminal.showLines(lines),
      showAgent: () => this.#showAgent(),
      modes: () => this.#terminal.modes(),
    });
  }

  /** Passes keys until the container ends or the user detaches. */
  async untilEnd(): Promise<AttachOutcome> {
    const { detached, onDetach } = detachment();
    this.#connectKeys(onDetach);
    const status = await Promise.race([this.#container.wait(), detached]);
    if (this.#terminal.holder === 'run-claude') this.#showAgent();
    if (status !== undefined) await drain(this.#terminal.copies, () => this.#signal !== undefined);
    return { status, signal: this.#signal, dropped: this.#terminal.dropped() };
  }

  /** Removes every listener, and puts the terminal back as it was. */
  async release(): Promise<void> {
    while (this.#undo.length > 0) this.#undo.pop()?.();
    this.#terminal.disconnect();
    if (this.#isRaw && this.#terminal.holder !== 'shell') await discardKeys(this.#options.streams.stdin);
    await this.#terminal.restore();
  }

  /** What is typed goes to a question of run-claude, then to the detach keys, then to the agent. */
  #connectKeys(onDetach: () => void): void {
    const { streams, tty, stdin, isReattached, onKeys } = this.#options;
    const target = this.#container.stdin;
    if (!stdin || target === undefined) {
      target?.end();
      return;
    }
    const unanswered = onKeys ?? ((typed: Buffer) => typed);
    const undetached = isReattached && tty ? watchDetachKeys(onDetach) : (typed: Buffer) => typed;
    const keysForAgent = (typed: Buffer): Buffer => {
      const passed = undetached(unanswered(typed));
      this.#suspendKey.note(passed);
      return passed;
    };
    const maxHeldBytes = this.#isRaw ? MAX_TYPED_BYTES : 0;
    pipeInput(streams.stdin, target, { onKeys: keysForAgent, maxHeldBytes }, this.#undo);
  }

  /** The agent's program stopped itself: so does run-claude, when the user asked for it; otherwise it is woken. */
  async #onStopped(): Promise<void> {
    const { suspend } = this.#options;
    const isPressed = this.#isRaw && this.#signal === undefined && this.#suspendKey.wasPressed();
    if (suspend !== undefined && isPressed && this.#terminal.holder !== 'shell') {
      this.#terminal.giveToShell();
      suspend();
      await delay(STOP_WITHIN_MS);
      // Where a signal ended the session while the shell had the terminal, the shell keeps it.
      this.#terminal.takeFromShell(this.#signal === undefined);
    }
    await this.#container.kill('SIGCONT').catch(() => undefined);
    this.#redraw();
  }

  #onSignal(received: NodeJS.Signals): void {
    this.#signal ??= received;
    // A failure to pass it on shows in wait(); a second press tries again.
    this.#container.kill(received).catch(() => undefined);
  }

  #showAgent(): void {
    this.#terminal.showAgent();
    this.#redraw();
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

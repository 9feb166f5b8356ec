import { writeSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { createTerminalFilter, type TerminalFilter } from './filter.ts';
import { copyOutput, type OutputCopy } from './stream.ts';

/** The user's end: process.stdin and its like, or streams of a test. */
export interface TerminalStreams {
  readonly stdin: Readable & { readonly isTTY?: boolean; readonly isRaw?: boolean; setRawMode?(raw: boolean): unknown };
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
}

export type OutputStream = Writable & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  readonly fd?: number;
};

export interface UserTerminalOptions {
  readonly streams: TerminalStreams;
  /** The agent has its own terminal: everything it writes is filtered. */
  readonly tty: boolean;
  /** Keys reach the agent as they are pressed. */
  readonly raw: boolean;
  readonly beforeOutput?: ((passed: Buffer) => void) | undefined;
  /** Whether the agent's output may be written now. */
  readonly mayShow?: (() => boolean) | undefined;
  /** The agent's program reported that it has stopped. */
  readonly onStopped: () => void;
}

/** Who has the user's terminal: the agent, a question of run-claude, or the shell while the agent is stopped. */
type Holder = 'agent' | 'run-claude' | 'shell';

const OTHER_SCREEN = Buffer.from('\x1b[?1049h');
const FIRST_SCREEN = Buffer.from('\x1b[0m\x1b[?1049l');
const CLEARED = '\x1b[H\x1b[2J\r\n';

/** The user's terminal while an agent is attached to it: its mode, its state, and who has it. */
export class UserTerminal {
  readonly copies: OutputCopy[] = [];
  readonly #options: UserTerminalOptions;
  readonly #wasRaw: boolean;
  readonly #filters = new Map<OutputStream, TerminalFilter>();
  readonly #undo: (() => void)[] = [];
  #holder: Holder = 'agent';
  #holderBeforeShell: Holder = 'agent';

  constructor(options: UserTerminalOptions) {
    this.#options = options;
    this.#wasRaw = options.streams.stdin.isRaw === true;
  }

  get holder(): Holder {
    return this.#holder;
  }

  /** Copies one of the agent's streams to the user's, filtered where it reaches a terminal. */
  connect(source: NodeJS.ReadableStream, target: OutputStream): void {
    const before = target.isTTY === true ? this.#options.beforeOutput : undefined;
    const { mayShow } = this.#options;
    this.copies.push(copyOutput(source, target, { filter: this.#filterFor(target), before, mayShow }, this.#undo));
  }

  setRaw(): void {
    if (this.#options.raw) this.#options.streams.stdin.setRawMode?.(true);
  }

  /** Shows these lines on the other screen, and holds the agent's output back. */
  showLines(lines: readonly string[]): void {
    this.#hold(true);
    this.#holder = 'run-claude';
    // Saves the cursor of an agent that draws on the first screen; the other screen is drawn anew afterwards.
    this.#write((filter) => Buffer.concat([OTHER_SCREEN, filter.leave(), OTHER_SCREEN]));
    const text = lines.map((line) => `${line}\r\n`).join('');
    writeNow(this.#options.streams.stdout, Buffer.from(CLEARED + text));
  }

  /** Brings the agent's screen and output back. */
  showAgent(): void {
    this.#leaveLines();
    this.#write((filter) => filter.enter());
    this.#hold(false);
  }

  /** Gives the terminal to the shell; nothing may be read from it until {@link takeFromShell}. */
  giveToShell(): void {
    this.#holderBeforeShell = this.#holder;
    this.#holder = 'shell';
    this.#hold(true);
    this.#options.streams.stdin.pause();
    this.#restoreMode();
    this.#write((filter) => filter.leave());
  }

  /** `toAgent`: false where the session ends anyway, and the shell keeps the keyboard. */
  takeFromShell(toAgent: boolean): void {
    if (toAgent) {
      const { stdin } = this.#options.streams;
      // In the background this stops the process again, until the user brings it back.
      stdin.setRawMode?.(true);
      this.#holder = this.#holderBeforeShell;
      stdin.resume();
    }
    this.#write((filter) => filter.enter());
    this.#hold(false);
  }

  /** What sets the modes again that the agent has set until now. */
  modes(): Buffer {
    return this.#filters.get(this.#options.streams.stdout)?.enter() ?? Buffer.alloc(0);
  }

  /** How much of the output was dropped, by reason. */
  dropped(): Readonly<Record<string, number>> {
    const dropped: Record<string, number> = {};
    for (const filter of this.#filters.values()) {
      for (const [reason, count] of Object.entries(filter.dropped())) dropped[reason] = (dropped[reason] ?? 0) + count;
    }
    return dropped;
  }

  /** Puts mode and state back without the event loop: the last thing that a process does. */
  restoreNow(): void {
    this.#restoreMode();
    this.#leaveLines();
    for (const [target, filter] of this.#filters) {
      if (target.isTTY === true && target.fd !== undefined) writeAll(target.fd, filter.end());
    }
  }

  /** Puts mode and state back, and waits until that is written. */
  async restore(): Promise<void> {
    this.#restoreMode();
    this.#leaveLines();
    for (const [target, filter] of this.#filters) {
      const restoring = filter.end();
      if (target.isTTY === true && target.writable)
        await new Promise<void>((done) => target.write(restoring, () => done()));
    }
    this.#options.streams.stdin.pause();
  }

  /** Removes every listener. */
  disconnect(): void {
    while (this.#undo.length > 0) this.#undo.pop()?.();
  }

  #filterFor(target: OutputStream): TerminalFilter | undefined {
    if (target.isTTY !== true && !this.#options.tty) return undefined;
    const filter = this.#filters.get(target) ?? createTerminalFilter(this.#options.onStopped);
    this.#filters.set(target, filter);
    return filter;
  }

  /** Writes what a filter makes, where the user's output is a terminal. */
  #write(bytesOf: (filter: TerminalFilter) => Buffer): void {
    const { stdout } = this.#options.streams;
    const filter = this.#filters.get(stdout);
    if (filter !== undefined && stdout.isTTY === true) writeNow(stdout, bytesOf(filter));
  }

  #hold(isHeld: boolean): void {
    for (const one of this.copies) one.hold(isHeld);
  }

  #restoreMode(): void {
    if (this.#options.raw) this.#options.streams.stdin.setRawMode?.(this.#wasRaw);
  }

  /** Ends the other screen, where run-claude's lines are on it. */
  #leaveLines(): void {
    if (this.#holder !== 'run-claude') return;
    this.#holder = 'agent';
    this.#write(() => FIRST_SCREEN);
  }
}

/** At once where there is a descriptor: what follows may stop this process. */
function writeNow(target: OutputStream, bytes: Buffer): void {
  if (target.fd === undefined) target.write(bytes);
  else writeAll(target.fd, bytes);
}

function writeAll(fd: number, bytes: Buffer): void {
  try {
    writeSync(fd, bytes);
  } catch (error) {
    // The terminal was closed, or is full: there is no state left to put back.
    if (!['EIO', 'EPIPE', 'EAGAIN', 'EBADF'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

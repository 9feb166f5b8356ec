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
  /** The agent has a terminal of its own: everything it writes is filtered. */
  readonly tty: boolean;
  /** Keys reach the agent as they are pressed. */
  readonly raw: boolean;
  readonly beforeOutput?: ((passed: Buffer) => void) | undefined;
  /** The agent's program reported that it has stopped. */
  readonly onStopped: () => void;
}

/** Who has the user's terminal. */
type Holder = 'agent' | 'run-claude' | 'shell';

/** The user's terminal while an agent is attached to it: its mode, its state, and who has it. */
export interface UserTerminal {
  /** Copies one of the agent's streams to the user's, filtered where it reaches a terminal. */
  connect(source: NodeJS.ReadableStream, target: OutputStream): void;
  readonly copies: readonly OutputCopy[];
  setRaw(): void;
  holder(): Holder;
  /** Shows these lines on the other screen, and holds the agent's output back. */
  showLines(lines: readonly string[]): void;
  /** Brings the agent's screen and output back. */
  showAgent(): void;
  /** Gives the terminal to the shell; nothing may be read from it until {@link takeFromShell}. */
  giveToShell(): void;
  /** `toAgent`: false where the session ends anyway, and the shell keeps the keyboard. */
  takeFromShell(toAgent: boolean): void;
  /** How much of the output was dropped, by reason. */
  dropped(): Readonly<Record<string, number>>;
  /** Puts mode and state back without the event loop: the last thing that a process does. */
  restoreNow(): void;
  /** Puts mode and state back, and waits until that is written. */
  restore(): Promise<void>;
  /** Removes every listener. */
  disconnect(): void;
}

/** The terminal of a user who has not given it to the agent yet. */
export function createUserTerminal(options: UserTerminalOptions): UserTerminal {
  const { streams, tty, raw } = options;
  const { stdin, stdout } = streams;
  const wasRaw = stdin.isRaw === true;
  const filters = new Map<OutputStream, TerminalFilter>();
  const copies: OutputCopy[] = [];
  const undo: (() => void)[] = [];
  let holder: Holder = 'agent';
  let holderBeforeShell: Holder = 'agent';

  const filterFor = (target: OutputStream): TerminalFilter | undefined => {
    if (target.isTTY !== true && !tty) return undefined;
    const filter = filters.get(target) ?? createTerminalFilter(options.onStopped);
    filters.set(target, filter);
    return filter;
  };
  const write = (bytesOf: (filter: TerminalFilter) => Buffer): void => {
    const filter = filters.get(stdout);
    if (filter !== undefined && stdout.isTTY === true) writeNow(stdout, bytesOf(filter));
  };
  const hold = (isHeld: boolean): void => {
    for (const one of copies) one.hold(isHeld);
  };
  const restoreMode = (): void => {
    if (raw) stdin.setRawMode?.(wasRaw);
  };
  const leaveLines = (): void => {
    if (holder !== 'run-claude') return;
    holder = 'agent';
    write(() => Buffer.from('\x1b[0m\x1b[?1049l'));
  };

  return {
    copies,
    connect(source, target) {
      const before = target.isTTY === true ? options.beforeOutput : undefined;
      copies.push(copyOutput(source, target, { filter: filterFor(target), before }, undo));
    },
    setRaw() {
      if (raw) stdin.setRawMode?.(true);
    },
    holder: () => holder,
    showLines(lines) {
      hold(true);
      holder = 'run-claude';
      // Saves the cursor of an agent that draws on the first screen; the other screen is drawn anew afterwards.
      write((filter) => Buffer.concat([Buffer.from('\x1b[?1049h'), filter.leave(), Buffer.from('\x1b[?1049h')]));
      const text = lines.map((line) => `${line}\r\n`).join('');
      writeNow(stdout, Buffer.from(`\x1b[H\x1b[2J\r\n${text}`));
    },
    showAgent() {
      leaveLines();
      write((filter) => filter.enter());
      hold(false);
    },
    giveToShell() {
      holderBeforeShell = holder;
      holder = 'shell';
      hold(true);
      stdin.pause();
      restoreMode();
      write((filter) => filter.leave());
    },
    takeFromShell(toAgent) {
      if (toAgent) {
        // In the background this stops the process again, until the user brings it back.
        stdin.setRawMode?.(true);
        holder = holderBeforeShell;
        stdin.resume();
      }
      write((filter) => filter.enter());
      hold(false);
    },
    dropped() {
      const dropped: Record<string, number> = {};
      for (const filter of filters.values()) {
        for (const [reason, count] of Object.entries(filter.dropped())) {
          dropped[reason] = (dropped[reason] ?? 0) + count;
        }
      }
      return dropped;
    },
    restoreNow() {
      restoreMode();
      leaveLines();
      for (const [target, filter] of filters) {
        if (target.isTTY === true && target.fd !== undefined) writeAll(target.fd, filter.end());
      }
    },
    async restore() {
      restoreMode();
      leaveLines();
      for (const [target, filter] of filters) {
        const restoring = filter.end();
        if (target.isTTY === true && target.writable)
          await new Promise<void>((done) => target.write(restoring, () => done()));
      }
      stdin.pause();
    },
    disconnect() {
      while (undo.length > 0) undo.pop()?.();
    },
  };
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

import { maskWords } from '../../core/text/mask-words.ts';
import type { InsideProgram } from '../../core/types/engine.ts';
import type { Tell } from '../../core/types/event.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import { attachTerminal } from '../../terminal/attach/attach.ts';
import { appendEvent } from '../record/events/events-file.ts';
import { isKept } from '../record/session.ts';
import { connectKept, type KeptProgram } from './connection.ts';

/** How long a program may take to end by SIGTERM or SIGHUP. */
const GRACE_MS = 10_000;

export interface InsideCommand {
  readonly argv: readonly string[];
  /** It gets its own terminal. */
  readonly tty: boolean;
  /** Type of the terminal. */
  readonly term: string | undefined;
  /** Opened where the kept connection of the session does not do. The caller closes it. */
  readonly engine: () => Promise<Runtime>;
  readonly tell: Tell;
}

/**
 * Runs a command in a running session next to its agent, on this process's streams: as `docker exec -i`, with `-t` where it
 * gets a terminal. What it writes to a terminal passes the filter of the agent's terminal. Its end ends nothing else.
 * Returns its status. Throws what connectKept, startInside and attachTerminal throw.
 */
export async function runInside(record: SessionRecord, command: InsideCommand): Promise<number> {
  const { argv, tty, term, engine, tell } = command;
  appendEvent(record.plan.sessionDir, 'command', maskWords(argv).join(' '));
  const connection = isKept(record) ? await connectKept(record) : undefined;
  try {
    // One connection that is there already costs less than the engine, but has no terminals.
    if (connection !== undefined && !tty)
      return await attach(programOf(connection.start({ kind: 'run', argv })), tty, tell);
    // A shell at which nobody types is in use all the same.
    connection?.hold();
    const { startInSession } = await import('./start-in-session.ts');
    return await attach(await startInSession(await engine(), record.plan, { argv, tty, term }), tty, tell);
  } finally {
    connection?.close();
  }
}

/**
 * Signals go to the program. A second Ctrl-C gives it up, and so does the time after a signal that ends commands (`timeout`,
 * a closed terminal): a runner in the agent's hands may pass on none.
 */
export function programOf(program: KeptProgram, graceMs: number = GRACE_MS): InsideProgram {
  let interrupts = 0;
  let late: NodeJS.Timeout | undefined;
  return {
    ...program,
    start: async () => undefined,
    wait: async () => {
      try {
        return (await program.exit).status;
      } finally {
        clearTimeout(late);
      }
    },
    async kill(signal) {
      if (signal === 'SIGINT') interrupts += 1;
      if (signal === 'SIGTERM' || signal === 'SIGHUP') late ??= setTimeout(() => program.abandon(), graceMs);
      if (interrupts > 1) program.abandon();
      else program.signal(signal);
    },
    resize: async () => undefined,
    close: () => program.cancel(),
  };
}

async function attach(program: InsideProgram, tty: boolean, tell: Tell): Promise<number> {
  try {
    if (tty) tell({ kind: 'terminal-lent' });
    const { stdin, stdout, stderr } = process;
    const options = { streams: { stdin, stdout, stderr }, tty, stdin: true, signals: process };
    const { status } = await attachTerminal(program, options);
    if (status === undefined) throw new Error('a program was detached from that cannot be');
    return status;
  } finally {
    if (tty) tell({ kind: 'terminal-returned' });
    program.close();
  }
}

import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import path from 'node:path';
import { RunClaudeError, type StopSignal } from '../../core/errors.ts';
import { packageRoot } from '../../core/host/package.ts';
import { HOLD_WORD } from '../../core/host/processes/internal-commands.ts';
import { fork } from '../../core/host/programs/start-program.ts';
import type { SessionEvent, Tell } from '../../core/types/event.ts';
import type { Plan } from '../../core/types/plan.ts';

// A kept session, and one in the background, is run by its own process, the holder: it has the session's record, its
// containers and its door, and nobody waits for it. `down` and `stop` ask it to end as they ask any command that runs a
// session.

/** What a holder is started with. */
export interface HolderTask {
  /** With the values of `--env`. */
  readonly plan: Plan;
  /** Of a session in the background. */
  readonly away?: {
    /** All that a program without a terminal reads. */
    readonly input?: Uint8Array;
    /** The file of `--report`, from this folder. */
    readonly report?: { readonly file: string; readonly cwd: string };
  };
}

/** What a holder tells the command that starts it, until the session is ready. */
export type FromHolder =
  | { readonly kind: 'tell'; readonly event: SessionEvent }
  | { readonly kind: 'ready' }
  | {
      readonly kind: 'failed';
      readonly code: string;
      readonly message: string;
      readonly hint: string | undefined;
      readonly status: number;
    };

export interface HolderOptions {
  readonly tell: Tell;
  readonly signal: AbortSignal;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** After this time the start goes on without the command that began it. Default: it is waited for. */
  readonly leaveAfterMs?: number;
}

/** The word with which a command leaves a start to its holder. */
const LEAVE = 'leave';

/**
 * Starts the holder of a session and returns when commands can be run in it, or its agent runs, or after `leaveAfterMs`.
 *
 * @throws {RunClaudeError} what the start of the session throws, HOLDER_FAILED where the holder ends without a word.
 */
export async function startHolder(task: HolderTask, { tell, signal, env, leaveAfterMs }: HolderOptions): Promise<void> {
  const logFile = path.join(task.plan.sessionDir, 'holder.log');
  const log = openSync(logFile, 'a', 0o600);
  const child = fork(path.join(packageRoot, 'dist/main.js'), [HOLD_WORD], {
    // Of a session of its own: the end of the terminal is not its end.
    detached: true,
    cwd: '/',
    env: { ...env },
    execArgv: [],
    stdio: ['ignore', 'ignore', log, 'ipc'],
    serialization: 'advanced',
  });
  closeSync(log);
  const onAbort = (): void => void child.kill('SIGTERM');
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    child.send(task);
    let onRecorded = (): void => undefined;
    const recorded = new Promise<void>((resolve) => {
      onRecorded = resolve;
    });
    const hear: Tell = (event) => {
      if (event.kind === 'stage') onRecorded();
      tell(event);
    };
    const ready = untilReady(child, hear, logFile);
    if (leaveAfterMs === undefined) await ready;
    else if ((await inTime(ready, recorded, leaveAfterMs)) === 'late') await sent(child, LEAVE);
    signal.throwIfAborted();
  } finally {
    signal.removeEventListener('abort', onAbort);
    if (child.connected) child.disconnect();
    child.unref();
  }
}

/** Resolves with 'late' where `ready` takes longer: not before the session is on record, by which commands find it. */
async function inTime(ready: Promise<void>, recorded: Promise<void>, ms: number): Promise<'late' | undefined> {
  let timer: NodeJS.Timeout | undefined;
  // A failure after that is on record, and nobody waits for it here.
  ready.catch(() => undefined);
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => void recorded.then(() => resolve('late')), ms);
  });
  try {
    return await Promise.race([ready.then(() => undefined), late]);
  } finally {
    clearTimeout(timer);
  }
}

function sent(child: ChildProcess, message: string): Promise<void> {
  return new Promise((resolve) => {
    child.send(message, () => resolve());
  });
}

function untilReady(child: ChildProcess, tell: Tell, logFile: string): Promise<void> {
  return new Promise((resolve, reject) => {
    child.on('message', (received) => {
      const message = received as FromHolder;
      if (message.kind === 'tell') tell(message.event);
      else if (message.kind === 'ready') resolve();
      else reject(failureOf(message));
    });
    child.on('error', reject);
    child.on('exit', (status, signal) => {
      reject(
        new RunClaudeError('HOLDER_FAILED', `the process of the session ended at once (${signal ?? status})`, {
          hint: `See ${logFile}`,
        }),
      );
    });
  });
}

function failureOf({ code, message, hint, status }: Extract<FromHolder, { kind: 'failed' }>): RunClaudeError {
  return new RunClaudeError(code, message, { status, ...(hint === undefined ? {} : { hint }) });
}

/** The channel of a holder to the command that started it. */
export interface Starter {
  readonly task: Promise<HolderTask>;
  /** Tells the command until the session is ready; returns whether it did. */
  tell(message: FromHolder): boolean;
  /** Ends the channel. */
  release(): void;
}

/** To be called in the holder. A command that ends before the session is ready, and does not leave it, ends this process by `stop`. */
export function starterOf(holder: NodeJS.Process, stop: (by: StopSignal) => void): Starter {
  const onLost = (): void => stop('SIGTERM');
  holder.once('disconnect', onLost);
  return {
    task: new Promise<HolderTask>((resolve) => {
      holder.on('message', (message) => {
        if (message === LEAVE) holder.off('disconnect', onLost);
        else resolve(message as HolderTask);
      });
    }),
    tell(message) {
      if (!holder.connected) return false;
      holder.send?.(message, undefined, undefined, () => undefined);
      return true;
    },
    release() {
      holder.off('disconnect', onLost);
      if (holder.connected) holder.disconnect();
    },
  };
}

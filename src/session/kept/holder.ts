import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import path from 'node:path';
import { RunClaudeError, type StopSignal } from '../../core/errors.ts';
import { HOLD_WORD } from '../../core/host/internal-commands.ts';
import { packageRoot } from '../../core/host/package.ts';
import { fork } from '../../core/host/programs/start-program.ts';
import type { SessionEvent, Tell } from '../../core/types/event.ts';
import type { Plan } from '../../core/types/plan.ts';

// A kept session is run by its own process, the holder: it has the session's record, its containers and its door,
// and nobody waits for it. `down` and `stop` ask it to end as they ask any command that runs a session.

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
}

/**
 * Starts the holder of a session and returns when commands can be run in it.
 *
 * @throws {RunClaudeError} what the start of the session throws, HOLDER_FAILED where the holder ends without a word.
 */
export async function startHolder(plan: Plan, { tell, signal, env }: HolderOptions): Promise<void> {
  const logFile = path.join(plan.sessionDir, 'holder.log');
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
    child.send(plan);
    await untilReady(child, tell, logFile);
    signal.throwIfAborted();
  } finally {
    signal.removeEventListener('abort', onAbort);
    if (child.connected) child.disconnect();
    child.unref();
  }
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
  /** The session's plan, with the values of `--env`. */
  readonly plan: Promise<Plan>;
  /** Tells the command until the session is ready; returns whether it did. */
  tell(message: FromHolder): boolean;
  /** Ends the channel. */
  release(): void;
}

/** To be called in the holder. A command that ends before the session is ready ends this process by `stop`. */
export function starterOf(holder: NodeJS.Process, stop: (by: StopSignal) => void): Starter {
  const onLost = (): void => stop('SIGTERM');
  holder.once('disconnect', onLost);
  return {
    plan: new Promise<Plan>((resolve) => {
      holder.once('message', (plan) => resolve(plan as Plan));
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

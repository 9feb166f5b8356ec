import { closeSync, openSync } from 'node:fs';
import path from 'node:path';
import type { StopSignal } from '../../core/errors.ts';
import { packageRoot } from '../../core/host/package.ts';
import { TASK_WORD } from '../../core/host/processes/internal-commands.ts';
import { fork } from '../../core/host/programs/start-program.ts';
import { writeAll } from '../../core/store/record.ts';
import type { SessionEvent } from '../../core/types/event.ts';
import type { FromTask, TaskOrder } from './tasks/messages.ts';

/** What is kept of an agent's output, and of the messages of its session: the rest is dropped. */
const MAX_OUTPUT_BYTES = 16 << 20;

export interface TaskProcessOptions {
  readonly order: TaskOrder;
  /** For the agent's standard input. */
  readonly input: string;
  /** Files that get what the agent and the session print. */
  readonly output: string;
  readonly log: string;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly onEvent: (event: SessionEvent) => void;
}

export interface TaskProcess {
  /** Never rejects. Without a status the process was killed, or did not start. */
  readonly ended: Promise<{ readonly status: number | undefined; readonly error: string | undefined }>;
  /** Asks the session to end; it is collected and kept. */
  stop(by: StopSignal): void;
}

/**
 * Runs one session in its own process, which outlives this one. It is the leader of a process group: a Ctrl-C on the
 * terminal reaches it once, through {@link TaskProcess.stop}.
 */
export function startTask(options: TaskProcessOptions): TaskProcess {
  // Its printer is made before the order arrives.
  const { words } = options.order;
  const trace = words.slice(0, words.indexOf('--')).filter((word) => word === '--trace');
  const child = fork(path.join(packageRoot, 'dist/main.js'), [TASK_WORD, ...trace], {
    detached: true,
    cwd: options.cwd,
    env: options.env,
    execArgv: [],
    stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
    serialization: 'advanced',
  });
  let error: string | undefined;
  const files = [keepOutput(child.stdout, options.output), keepOutput(child.stderr, options.log)];
  child.on('message', (received) => {
    const message = received as FromTask;
    if (message.kind === 'tell') options.onEvent(message.event);
    else error = message.message;
  });
  // A process that ends early closes both.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(options.input);
  const ended = new Promise<Awaited<TaskProcess['ended']>>((resolve) => {
    child.on('error', (cause) => {
      error ??= cause.message;
      if (child.pid === undefined) resolve({ status: undefined, error });
    });
    child.on('close', (status, signal) => {
      resolve({ status: status ?? undefined, error: error ?? (signal === null ? undefined : `killed by ${signal}`) });
    });
  }).finally(() => {
    for (const close of files) close();
  });
  if (child.pid !== undefined) child.send(options.order, () => undefined);
  return { ended, stop: (by) => void child.kill(by) };
}

/** Writes what is read to a file, up to the limit, and reads on: a full pipe would stop the session. */
function keepOutput(stream: NodeJS.ReadableStream | null, file: string): () => void {
  const fd = openSync(file, 'w', 0o600);
  let left = MAX_OUTPUT_BYTES;
  stream?.on('data', (chunk: Buffer) => {
    const kept = chunk.subarray(0, left);
    left -= kept.length;
    try {
      if (kept.length > 0) writeAll(fd, kept);
    } catch {
      // A full disk: the session itself reports it.
      left = 0;
    }
  });
  stream?.on('error', () => undefined);
  return () => closeSync(fd);
}

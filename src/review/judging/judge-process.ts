import type { ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { RunClaudeError } from '../../core/errors.ts';
import { processorTimeMs } from '../../core/host/processes/processor-time.ts';
import { spawn } from '../../core/host/programs/start-program.ts';
import { encodeFrame, type Frame, FrameBuffer } from './frames.ts';
import { type FromJudge, PROTOCOL, type ToJudge } from './protocol.ts';

/** Of V8, in MB: what is judged is a small part of this. */
const MAX_HEAP_MB = 1024;
/** Processor time between two messages: the budgets end a change long before, also on a slow machine. */
const MAX_STEP_MS = 20_000;
/** How often it is looked after. */
const WATCH_MS = 1000;

/** The process ended without being asked to. */
export class JudgeDied extends Error {
  /** In words, for the finding. */
  constructor(how: string) {
    super(how);
    this.name = 'JudgeDied';
  }
}

/**
 * One process that judges (judge-worker.ts). It has an empty environment and a session of its own, so that Ctrl-C on the
 * terminal is for run-claude alone. It does not keep this process from ending, except while an answer is awaited.
 */
export class JudgeProcess {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #frames = new FrameBuffer();
  readonly #received: Frame[] = [];
  #waiting: { readonly resolve: () => void; readonly reject: (error: Error) => void } | undefined;
  #ended: Error | undefined;

  constructor() {
    const file = fileURLToPath(new URL('./judge-worker.cjs', import.meta.url));
    this.#child = spawn(process.execPath, [`--max-old-space-size=${MAX_HEAP_MB}`, file], {
      cwd: '/',
      env: {},
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    this.#child.on('error', (error) => this.#end(error));
    this.#child.on('close', (status, signal) => this.#end(new JudgeDied(howItEnded(status, signal))));
    // The reason is in 'close'.
    this.#child.stdin.on('error', () => undefined);
    this.#child.stdout.on('data', (piece: Buffer) => this.#take(piece));
    this.#hold(false);
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /**
   * Waits for the first message.
   *
   * @throws {RunClaudeError} JUDGE_UNAVAILABLE when it does not start, or another release is there by now.
   */
  async ready(): Promise<void> {
    const { message } = await this.receive().catch((cause: Error) => {
      const isOwn = cause instanceof JudgeDied || 'syscall' in cause;
      throw isOwn ? unavailable(`it ended at once: ${cause.message}`, cause) : cause;
    });
    if (message.kind !== 'hello' || message.protocol !== PROTOCOL)
      throw unavailable('another release of run-claude was installed in the meantime');
  }

  /** Resolves when the pipe has room for more. */
  async send(message: ToJudge, bytes?: Buffer): Promise<void> {
    if (this.#ended !== undefined) return;
    const hasRoom = this.#child.stdin.write(encodeFrame(message, bytes));
    if (hasRoom) return;
    this.#hold(true);
    await new Promise<void>((resolve) => {
      // Both are removed: a large session fills the pipe often, and Node warns of more than ten listeners.
      const done = (): void => {
        this.#child.stdin.off('drain', done);
        this.#child.off('close', done);
        resolve();
      };
      this.#child.stdin.once('drain', done);
      this.#child.once('close', done);
    });
    this.#hold(false);
  }

  /** The next message. @throws {JudgeDied} when it has ended, or takes too long. */
  async receive(): Promise<{ readonly message: FromJudge; readonly bytes: Buffer }> {
    if (this.#received.length === 0) await this.#next();
    const { message, bytes } = this.#received.shift() as Frame;
    return { message: message as FromJudge, bytes };
  }

  /** Ends it at once. A pending request is rejected with the error. */
  kill(error: Error = new JudgeDied('it was ended')): void {
    this.#end(error);
    this.#child.kill('SIGKILL');
  }

  async #next(): Promise<void> {
    if (this.#ended !== undefined) throw this.#ended;
    const { pid } = this.#child;
    const startMs = pid === undefined ? undefined : processorTimeMs(pid);
    const watch = setInterval(() => {
      const nowMs = pid === undefined ? undefined : processorTimeMs(pid);
      if (startMs !== undefined && nowMs !== undefined && nowMs - startMs > MAX_STEP_MS)
        this.kill(new JudgeDied(`it took more than ${MAX_STEP_MS / 1000} s of processor time`));
    }, WATCH_MS);
    this.#hold(true);
    try {
      await new Promise<void>((resolve, reject) => {
        this.#waiting = { resolve, reject };
      });
    } finally {
      clearInterval(watch);
      this.#waiting = undefined;
      this.#hold(false);
    }
  }

  #take(piece: Buffer): void {
    try {
      for (const frame of this.#frames.push(piece)) this.#received.push(frame);
    } catch (error) {
      this.kill(new JudgeDied(`it wrote what is not a message: ${(error as Error).message}`));
      return;
    }
    if (this.#received.length > 0) this.#waiting?.resolve();
  }

  #end(error: Error): void {
    this.#ended ??= error;
    this.#waiting?.reject(this.#ended);
  }

  /** Whether this process stays for it. */
  #hold(isHeld: boolean): void {
    const held = [this.#child, this.#child.stdin, this.#child.stdout] as unknown as ReadonlyArray<{
      ref(): void;
      unref(): void;
    }>;
    for (const one of held) isHeld ? one.ref() : one.unref();
  }
}

function howItEnded(status: number | null, signal: NodeJS.Signals | null): string {
  if (signal === 'SIGABRT' || status === 134) return 'it ran out of memory or stack';
  return signal === null ? `it ended with status ${status}` : `it was ended by ${signal}`;
}

function unavailable(why: string, cause?: Error): RunClaudeError {
  return new RunClaudeError('JUDGE_UNAVAILABLE', `the process that audits changes cannot be used: ${why}`, {
    ...(cause === undefined ? {} : { cause }),
    hint: 'The changes stay as they are. Start the audit again with: run-claude diff',
  });
}

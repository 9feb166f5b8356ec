import { readFileSync } from 'node:fs';
import { RunClaudeError } from '../../core/errors.ts';
import type { InsideProgram } from '../../core/types/engine.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import { FRAME, type Frame, FrameReader } from './frames.ts';
import { startInSession } from './start-in-session.ts';

/** The node of every image: no program that the agent could have put into its PATH. */
const NODE = '/opt/node/package/bin/node';
/** Of the runner, in MB: files that it reads are a small part of this. */
const MAX_HEAP_MB = 256;
/** More than it takes on a machine under load. The agent may stop the process before it says a word. */
const START_MS = 20_000;
/** Bytes that wait for a runner which does not read. */
const MAX_UNREAD_BYTES = 64 * 1024 ** 2;

/** The runner of a session while it runs. */
export interface Runner {
  write(frame: Buffer): void;
  /** Resolves when it has ended, with the reason. */
  readonly ended: Promise<string>;
  kill(why: string): void;
}

/**
 * Starts the runner inside. `onFrame` gets every frame of a known kind and a bounded size; what is none ends the runner.
 *
 * @throws {RunClaudeError} RUNNER_FAILED where it does not start within START_MS; what startInSession throws.
 */
export async function startRunner(engine: Runtime, plan: Plan, onFrame: (frame: Frame) => void): Promise<Runner> {
  const source = readFileSync(new URL('./runner-worker.cjs', import.meta.url), 'utf8');
  const argv = [NODE, `--max-old-space-size=${MAX_HEAP_MB}`, '--eval', source];
  const program = await startInSession(engine, plan, { argv, tty: false });
  // Nobody reads what it prints there; a stream without a reader is dropped.
  let why = 'the runner inside ended';
  const frames = new FrameReader();
  const kill = (reason: string): void => {
    why = reason;
    program.close();
  };
  const greeted = new Promise<boolean>((resolve) => {
    program.stdout.on('data', (piece: Buffer) => {
      try {
        for (const frame of frames.push(piece)) {
          if (frame.kind === FRAME.hello) resolve(true);
          else onFrame(frame);
        }
      } catch (error) {
        kill(`the runner inside was ended: ${(error as Error).message}`);
      }
    });
    for (const event of ['end', 'close']) program.stdout.on(event, () => resolve(false));
  });
  const ended = new Promise<string>((resolve) => {
    for (const event of ['end', 'close', 'error']) program.stdout.on(event, () => resolve(why));
  });
  await untilGreeted(program, greeted);
  return {
    write(frame) {
      program.stdin?.write(frame, () => undefined);
      if (unreadBytes(program) > MAX_UNREAD_BYTES)
        kill('the runner inside was ended: it does not read what it is sent');
    },
    ended,
    kill,
  };
}

function unreadBytes({ stdin }: InsideProgram): number {
  return stdin !== undefined && 'writableLength' in stdin ? Number(stdin.writableLength) : 0;
}

/** Closes the program where it does not greet in time. @throws {RunClaudeError} RUNNER_FAILED; what start() throws. */
async function untilGreeted(program: InsideProgram, greeted: Promise<boolean>): Promise<void> {
  let isGreeted = false;
  const timer = setTimeout(() => program.close(), START_MS);
  try {
    await program.start();
    isGreeted = await greeted;
  } finally {
    clearTimeout(timer);
    if (!isGreeted) program.close();
  }
  if (!isGreeted)
    throw new RunClaudeError('RUNNER_FAILED', 'the runner of the session does not start in its container', {
      hint: 'A program inside may keep it from starting. End the session with: run-claude down',
    });
}

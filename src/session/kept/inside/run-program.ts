import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { encodeCount, encodeFrame, encodeJson, FRAME, type FrameKind, PIECE_BYTES, WINDOW_BYTES } from '../frames.ts';
import type { ProgramExit, RunRequest } from '../requests.ts';

/** A program that runs for a request. */
export interface RunningProgram {
  input(bytes: Buffer): void;
  inputEnd(): void;
  taken(count: number): void;
  signal(name: string): void;
  /** Ends it and what it started. */
  end(): void;
}

export type Send = (frame: Buffer) => void;

/** How long a program has to end by itself after SIGTERM. */
const GRACE_MS = 2000;
/** How long output may still come once the program has ended: what it left in the background may hold its streams. */
const DRAIN_MS = 100;

/** Starts a program in its own process group. `send` gets its frames; `onEnd` is called after the last one. */
export function runProgram(
  id: number,
  { argv, cwd, env, timeoutMs }: RunRequest,
  send: Send,
  onEnd: () => void,
): RunningProgram {
  const [program = '', ...args] = argv;
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, ...env },
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let timedOut = false;
  let hasEnded = false;
  let isEnding = false;
  const timers: NodeJS.Timeout[] = [];
  const streams = [
    { stream: child.stdout, kind: FRAME.stdout },
    { stream: child.stderr, kind: FRAME.stderr },
  ];
  const output = copyOut(streams, id, send);
  const finish = (exit: ProgramExit): void => {
    if (hasEnded) return;
    hasEnded = true;
    for (const timer of timers) clearTimeout(timer);
    // What it started may have ignored the first signal.
    if (isEnding) signalGroup(child, 'SIGKILL');
    output.discard();
    send(encodeJson(FRAME.exit, id, exit));
    onEnd();
  };
  const end = (): void => {
    isEnding = true;
    signalGroup(child, 'SIGTERM');
    timers.push(setTimeout(() => signalGroup(child, 'SIGKILL'), GRACE_MS));
  };
  child.on('error', (error: NodeJS.ErrnoException) => {
    send(encodeFrame(FRAME.stderr, id, Buffer.from(`${program}: ${error.code ?? error.message}\n`)));
    finish({ status: error.code === 'ENOENT' ? 127 : 126, timedOut: false });
  });
  child.on('exit', (code, signal) => {
    const exit = { status: code ?? 128 + (signal === null ? 0 : constants.signals[signal]), timedOut };
    child.once('close', () => finish(exit));
    // A reader that is slow is waited for; a background process that writes nothing is not.
    const whenQuiet = (): void => {
      if (output.isBusy()) timers.push(setTimeout(whenQuiet, DRAIN_MS));
      else finish(exit);
    };
    timers.push(setTimeout(whenQuiet, DRAIN_MS));
  });
  child.stdin.on('error', () => undefined);
  if (timeoutMs !== undefined)
    timers.push(
      setTimeout(() => {
        timedOut = true;
        end();
      }, timeoutMs),
    );
  return {
    input: (bytes) => void child.stdin.write(bytes, () => send(encodeCount(FRAME.inputTaken, id, bytes.length))),
    inputEnd: () => void child.stdin.end(),
    taken: (count) => output.taken(count),
    signal: (name) => signalGroup(child, name as NodeJS.Signals),
    end() {
      // Nobody takes it any more.
      output.discard();
      end();
    },
  };
}

/** Sends what the streams of one program hold, with at most a window of bytes under way for all of them together. */
function copyOut(streams: readonly { readonly stream: Readable; readonly kind: FrameKind }[], id: number, send: Send) {
  let underWay = 0;
  let hasArrived = false;
  let isDiscarded = false;
  for (const { stream, kind } of streams) {
    stream.on('error', () => undefined);
    stream.on('data', (bytes: Buffer) => {
      if (isDiscarded) return;
      hasArrived = true;
      for (let at = 0; at < bytes.length; at += PIECE_BYTES)
        send(encodeFrame(kind, id, bytes.subarray(at, at + PIECE_BYTES)));
      underWay += bytes.length;
      if (underWay >= WINDOW_BYTES / 2) for (const one of streams) one.stream.pause();
    });
  }
  const resume = (): void => {
    for (const { stream } of streams) stream.resume();
  };
  return {
    taken(count: number) {
      underWay = Math.max(0, underWay - count);
      if (underWay < WINDOW_BYTES / 2) resume();
    },
    isBusy() {
      const isBusy = hasArrived || underWay > 0;
      hasArrived = false;
      return isBusy;
    },
    /** Reads on, so that a process in the background is not stopped, and drops it. */
    discard() {
      isDiscarded = true;
      underWay = 0;
      resume();
    },
  };
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // It has ended.
  }
}

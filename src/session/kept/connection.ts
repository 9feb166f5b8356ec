import { connect, type Socket } from 'node:net';
import { PassThrough, Writable } from 'node:stream';
import { RunClaudeError } from '../../core/errors.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import {
  countOf,
  encodeCount,
  encodeFrame,
  encodeJson,
  FRAME,
  type Frame,
  FrameReader,
  MAX_FRAME_BYTES,
  PIECE_BYTES,
  WINDOW_BYTES,
} from './frames.ts';
import { notUp, readPlace } from './place.ts';
import {
  decodeResult,
  type FileRequest,
  jsonOf,
  type ProgramExit,
  programExitOf,
  type Request,
  type RunRequest,
  type TextResult,
} from './requests.ts';

/** A program that runs in a kept session. */
export interface KeptProgram {
  readonly stdout: NodeJS.ReadableStream;
  readonly stderr: NodeJS.ReadableStream;
  readonly stdin: NodeJS.WritableStream;
  /** Resolves once it has ended and its output is in the streams. */
  readonly exit: Promise<ProgramExit>;
  signal(name: string): void;
  /** Ends it and what it started. */
  cancel(): void;
  /** As cancel(), and takes it for killed at once: a runner in the agent's hands may never answer. */
  abandon(): void;
}

/** One kept connection to a kept session, for any number of requests. */
export interface KeptConnection {
  start(request: RunRequest): KeptProgram;
  /**
   * Cancelled where the signal fires.
   *
   * @throws {RunClaudeError} REQUEST_FAILED with the reason that the runner inside gave, or of the signal; SESSION_ENDED.
   */
  ask(request: FileRequest, signal?: AbortSignal): Promise<TextResult>;
  /** Keeps the session from being idle until the connection is closed. */
  hold(): void;
  /** Resolves when the session has ended, or the connection was closed. */
  readonly closed: Promise<void>;
  close(): void;
}

const MAX_REASON_CHARACTERS = 1000;
/** Status of a program that SIGKILL ended. */
const KILLED = 137;

type OnFrame = (frame: Frame) => void;

interface Answers {
  readonly onFrame: OnFrame;
  readonly onLost: (error: Error) => void;
}

/** Connects to a kept session. @throws {RunClaudeError} SESSION_ENDED where it is not up; RECORD_DAMAGED. */
export async function connectKept(record: SessionRecord): Promise<KeptConnection> {
  const socket = await open(readPlace(record), record.id);
  const answers = new Map<number, Answers>();
  let nextId = 1;
  const reader = new FrameReader();
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => {
      for (const one of answers.values()) one.onLost(notUp(record.id));
      answers.clear();
      resolve();
    });
  });
  socket.on('error', () => socket.destroy());
  socket.on('data', (piece: Buffer) => {
    try {
      for (const frame of reader.push(piece)) answers.get(frame.id)?.onFrame(frame);
    } catch {
      socket.destroy();
    }
  });
  const begin = (request: Request, answersOf: (id: number) => Answers): number => {
    const id = nextId++;
    const frame = encodeJson(FRAME.start, id, request);
    // The door would end the whole connection.
    if (frame.length > MAX_FRAME_BYTES) throw requestFailed(`the request is larger than ${MAX_FRAME_BYTES} bytes`);
    answers.set(id, answersOf(id));
    socket.write(frame);
    return id;
  };
  return {
    start: (request) => startProgram(socket, answers, request, begin),
    ask: (request, signal) => askFor(socket, answers, request, signal, begin),
    hold: () => void begin({ kind: 'hold' }, () => ({ onFrame: () => undefined, onLost: () => undefined })),
    closed,
    close: () => socket.destroy(),
  };
}

type Begin = (request: Request, answersOf: (id: number) => Answers) => number;

async function askFor(
  socket: Socket,
  answers: Map<number, Answers>,
  request: FileRequest,
  signal: AbortSignal | undefined,
  begin: Begin,
): Promise<TextResult> {
  const reasonOf = (): Error => {
    const reason: unknown = signal?.reason;
    return requestFailed(reason instanceof Error ? reason.message : 'the request was cancelled');
  };
  if (signal?.aborted === true) throw reasonOf();
  let cancel = (): void => undefined;
  try {
    return await new Promise<TextResult>((resolve, reject) => {
      const own = begin(request, (id) => ({
        onLost: reject,
        onFrame({ kind, bytes }) {
          if (kind !== FRAME.result && kind !== FRAME.failure && kind !== FRAME.exit) return;
          answers.delete(id);
          if (kind === FRAME.result) resolve(decodeResult(bytes));
          else reject(failureOf(bytes));
        },
      }));
      cancel = () => {
        answers.delete(own);
        socket.write(encodeFrame(FRAME.cancel, own));
        reject(reasonOf());
      };
      signal?.addEventListener('abort', cancel, { once: true });
    });
  } finally {
    signal?.removeEventListener('abort', cancel);
  }
}

function startProgram(socket: Socket, answers: Map<number, Answers>, request: RunRequest, begin: Begin): KeptProgram {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  let id = 0;
  let abandon = (): void => undefined;
  const input = inputOf((kind, bytes) => void socket.write(encodeFrame(kind, id, bytes)));
  const exit = new Promise<ProgramExit>((resolve, reject) => {
    const finish = (): void => {
      answers.delete(id);
      stdout.end();
      stderr.end();
      input.stop();
    };
    const pass = (stream: PassThrough, bytes: Buffer): void =>
      void stream.write(bytes, () => socket.write(encodeCount(FRAME.taken, id, bytes.length)));
    const onFrame = (frame: Frame): void => {
      const { kind, bytes } = frame;
      if (kind === FRAME.stdout) pass(stdout, bytes);
      else if (kind === FRAME.stderr) pass(stderr, bytes);
      else if (kind === FRAME.inputTaken) input.taken(countOf(frame));
      else if (kind === FRAME.exit || kind === FRAME.failure || kind === FRAME.result) {
        finish();
        if (kind === FRAME.exit) resolve(programExitOf(jsonOf(bytes)));
        else if (kind === FRAME.result) reject(requestFailed('the session did not say how the command ended'));
        else reject(failureOf(bytes));
      }
    };
    const onLost = (error: Error): void => {
      finish();
      reject(error);
    };
    abandon = () => {
      socket.write(encodeFrame(FRAME.cancel, id));
      finish();
      resolve({ status: KILLED, timedOut: false });
    };
    try {
      id = begin(request, () => ({ onFrame, onLost }));
    } catch (error) {
      onLost(error as Error);
    }
  });
  // A caller may wait for it later.
  exit.catch(() => undefined);
  return {
    stdout,
    stderr,
    stdin: input.stream,
    exit,
    signal: (name) => void socket.write(encodeFrame(FRAME.signal, id, Buffer.from(name))),
    cancel: () => void socket.write(encodeFrame(FRAME.cancel, id)),
    abandon: () => abandon(),
  };
}

/** A program's standard input: it takes no more than a window of bytes that the program has not read. */
function inputOf(send: (kind: typeof FRAME.input | typeof FRAME.inputEnd, bytes?: Buffer) => void) {
  let underWay = 0;
  let isStopped = false;
  let waiting: (() => void) | undefined;
  const goOn = (): void => {
    const go = waiting;
    waiting = undefined;
    go?.();
  };
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      for (let at = 0; at < chunk.length && !isStopped; at += PIECE_BYTES)
        send(FRAME.input, chunk.subarray(at, at + PIECE_BYTES));
      if (!isStopped) underWay += chunk.length;
      if (isStopped || underWay < WINDOW_BYTES / 2) done();
      else waiting = done;
    },
    final(done) {
      if (!isStopped) send(FRAME.inputEnd);
      done();
    },
  });
  return {
    stream,
    taken(count: number) {
      underWay = Math.max(0, underWay - count);
      if (underWay < WINDOW_BYTES / 2) goOn();
    },
    stop() {
      isStopped = true;
      goOn();
    },
  };
}

function failureOf(bytes: Buffer): RunClaudeError {
  return requestFailed(bytes.toString('utf8').slice(0, MAX_REASON_CHARACTERS));
}

function requestFailed(reason: string): RunClaudeError {
  return new RunClaudeError('REQUEST_FAILED', reason);
}

function open(place: string, id: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(place);
    socket.once('connect', () => {
      socket.removeAllListeners('error');
      resolve(socket);
    });
    socket.once('error', () => reject(notUp(id)));
  });
}

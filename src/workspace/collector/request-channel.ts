import { collectorLost, collectorRefused } from './collector-errors.ts';
import { encodeRequest, type Field, type Frame, FrameCutter, protocolError } from './wire.ts';

export interface CollectorStreams {
  readonly stdin: NodeJS.WritableStream;
  readonly stdout: NodeJS.ReadableStream;
}

const SILENCE_LIMIT_MS = 60_000;
const SILENCE_CHECK_INTERVAL_MS = 5000;
/** Content that a slow caller has not read yet, above which the stream is not read further. */
const MAX_UNREAD_BYTES = 8 << 20;
/** The kinds of the frame that ends an answer, without the error. */
const END_KINDS = 'XSNFH';
const ERROR_KIND = '!';

/** Requests to one collector over its stdio, and their answers. Many requests may be under way. */
export class RequestChannel {
  readonly #stdin: NodeJS.WritableStream;
  /** By id: the answers whose last frame has not arrived. */
  readonly #answers = new Map<number, Answer>();
  readonly #silenceTimer: NodeJS.Timeout;
  #lastId = 0;
  #lastHeardMs = Date.now();
  /** Once set, no further frame arrives. */
  #failure: Error | undefined;

  constructor({ stdin, stdout }: CollectorStreams) {
    this.#stdin = stdin;
    this.#silenceTimer = setInterval(() => this.#checkSilence(), SILENCE_CHECK_INTERVAL_MS);
    this.#silenceTimer.unref();
    this.#receive(stdout).catch((error: Error) => this.#fail(error));
    stdin.on('error', (cause) => this.#fail(collectorLost(cause.message)));
  }

  /**
   * The frames of the answer to one request, which is sent when the first one is asked for. `isLarge`: the answer is
   * content that the caller may read slowly, so the collector waits for the caller.
   *
   * @throws {RunClaudeError} COLLECTOR_READ when the collector refuses, COLLECTOR_LOST and COLLECTOR_PROTOCOL
   */
  async *request(op: string, fields: readonly Field[], isLarge = false): AsyncGenerator<Frame> {
    const answer = this.#send(op, fields, isLarge);
    try {
      for (;;) {
        const frame = answer.take();
        if (frame === undefined) {
          if (this.#failure !== undefined) throw this.#failure;
          await answer.arrival();
          continue;
        }
        if (frame.kind === ERROR_KIND)
          throw collectorRefused(frame.payload.subarray(4).toString('latin1').slice(0, 200));
        yield frame;
        if (END_KINDS.includes(frame.kind)) return;
      }
    } finally {
      answer.abandon();
    }
  }

  /**
   * The only frame of an answer, which is one of these kinds.
   *
   * @throws as {@link request} does
   */
  async requestOne(op: string, fields: readonly Field[], kinds: string): Promise<Frame> {
    for await (const frame of this.request(op, fields)) {
      if (!kinds.includes(frame.kind)) throw protocolError(`a frame ${frame.kind} in answer to ${op}`);
      return frame;
    }
    throw protocolError('no answer');
  }

  /** Ends every request, also later ones, with this error. */
  interrupt(reason: Error): void {
    this.#fail(reason);
  }

  /** Closes the collector's input, so that it ends. */
  close(): void {
    clearInterval(this.#silenceTimer);
    this.#stdin.end();
  }

  #send(op: string, fields: readonly Field[], isLarge: boolean): Answer {
    if (this.#failure !== undefined) throw this.#failure;
    this.#lastId = (this.#lastId + 1) >>> 0;
    const answer = new Answer(isLarge ? MAX_UNREAD_BYTES : Number.POSITIVE_INFINITY);
    if (this.#answers.size === 0) this.#lastHeardMs = Date.now();
    this.#answers.set(this.#lastId, answer);
    this.#stdin.write(encodeRequest(this.#lastId, op, fields));
    return answer;
  }

  /** Gives each frame to its answer. Never returns: the collector answers for as long as its input is open. */
  async #receive(stdout: NodeJS.ReadableStream): Promise<never> {
    const cutter = new FrameCutter();
    for await (const chunk of stdout as AsyncIterable<Buffer>) {
      this.#lastHeardMs = Date.now();
      for (const frame of cutter.push(chunk)) {
        const answer = this.#answers.get(frame.id);
        if (answer === undefined) throw protocolError('an answer to nothing');
        answer.add(frame);
        if (frame.kind === ERROR_KIND || END_KINDS.includes(frame.kind)) this.#answers.delete(frame.id);
        while (answer.isFull && this.#failure === undefined) await answer.space();
      }
    }
    throw collectorLost('it has ended');
  }

  #checkSilence(): void {
    // While the stream is not read because a caller is slow, nothing can be heard.
    const isExpected =
      this.#answers.size > 0 && ![...this.#answers.values()].some((answer) => answer.isReceiverWaiting);
    if (!isExpected) this.#lastHeardMs = Date.now();
    else if (Date.now() - this.#lastHeardMs > SILENCE_LIMIT_MS)
      this.#fail(collectorLost('it has been silent for a minute'));
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    for (const answer of this.#answers.values()) answer.wakeBoth();
  }
}

/** The frames of one answer, between the stream that they arrive on and the caller that reads them. */
class Answer {
  readonly #maxBytes: number;
  #frames: Frame[] = [];
  #bytes = 0;
  /** The caller reads no further: the rest of the answer is dropped as it arrives. */
  #isAbandoned = false;
  /** Set while the caller waits for a frame. */
  #wakeCaller: (() => void) | undefined;
  /** Set while the receiver waits for the caller to read. */
  #wakeReceiver: (() => void) | undefined;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(frame: Frame): void {
    if (this.#isAbandoned) return;
    this.#frames.push(frame);
    this.#bytes += frame.payload.length;
    this.#wakeCaller?.();
  }

  take(): Frame | undefined {
    const frame = this.#frames.shift();
    if (frame === undefined) return undefined;
    this.#bytes -= frame.payload.length;
    this.#wakeReceiver?.();
    return frame;
  }

  abandon(): void {
    this.#isAbandoned = true;
    this.#frames = [];
    this.#wakeReceiver?.();
  }

  get isFull(): boolean {
    return this.#bytes > this.#maxBytes && !this.#isAbandoned;
  }

  get isReceiverWaiting(): boolean {
    return this.#wakeReceiver !== undefined;
  }

  /** Resolves at the next frame, and when the channel fails. */
  async arrival(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wakeCaller = resolve;
    });
    this.#wakeCaller = undefined;
  }

  /** Resolves when the caller has read a frame or abandoned the answer, and when the channel fails. */
  async space(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wakeReceiver = resolve;
    });
    this.#wakeReceiver = undefined;
  }

  wakeBoth(): void {
    this.#wakeCaller?.();
    this.#wakeReceiver?.();
  }
}

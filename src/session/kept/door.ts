import { chmodSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { makeOwnedDir } from '../../core/host/files/owned-dir.ts';
import {
  countOf,
  encodeFrame,
  FRAME,
  type Frame,
  type FrameKind,
  FrameReader,
  MAX_FRAME_BYTES,
  WINDOW_BYTES,
} from './frames.ts';
import { jsonOf } from './requests.ts';
import type { Runner } from './runner.ts';

export interface DoorOptions {
  /** Starts the runner inside, when the first request comes and after it ended. */
  readonly startRunner: (onFrame: (frame: Frame) => void) => Promise<Runner>;
  /** Called once no request came for this long, in milliseconds, and none is under way. */
  readonly idle: { readonly afterMs: number; readonly onIdle: () => void };
}

/** The door of a kept session: a socket on which this user's commands reach the runner inside. */
export interface Door {
  /** Path of the socket. */
  readonly socket: string;
  close(): Promise<void>;
}

/** Of all clients together: each may hold some windows of memory. */
const MAX_REQUESTS = 128;
/** Bytes that wait for a client which does not read. More cannot be the answer to what it asked. */
const MAX_UNREAD_BYTES = 4 * MAX_FRAME_BYTES;

interface OpenRequest {
  readonly client: Socket;
  /** The client's own number for it. */
  readonly id: number;
  /** All of its client: its own numbers to those of the runner. */
  readonly ids: Map<number, number>;
  /** Bytes of output that the client has not taken. */
  underWay: number;
  /** Bytes of input that the program has not taken. */
  inputUnderWay: number;
}

/** Opens the door. The runner starts with the first request, or with `warmUp`. */
export async function openDoor(options: DoorOptions): Promise<Door & { warmUp(): Promise<void> }> {
  const dir = await makeOwnedDir(tmpdir(), 'run-claude-door-');
  const socket = path.join(dir, 's');
  const hub = new Hub(options);
  const server = createServer((client) => hub.accept(client));
  await listen(server, socket);
  // The directory is this user's alone already.
  chmodSync(socket, 0o600);
  return {
    socket,
    warmUp: async () => void (await hub.runner()),
    async close() {
      hub.close();
      server.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** Joins the clients to the one runner. */
class Hub {
  readonly #options: DoorOptions;
  readonly #clients = new Set<Socket>();
  readonly #requests = new Map<number, OpenRequest>();
  /** Requests that keep the session from being idle and start nothing. */
  readonly #holds = new Set<string>();
  readonly #idleTimer: NodeJS.Timeout;
  #runner: Promise<Runner> | undefined;
  #nextId = 1;
  #lastMs = performance.now();

  constructor(options: DoorOptions) {
    this.#options = options;
    const { afterMs, onIdle } = options.idle;
    const look = (): void => {
      if (this.#requests.size + this.#holds.size > 0) this.#lastMs = performance.now();
      if (performance.now() - this.#lastMs < afterMs) return;
      clearInterval(this.#idleTimer);
      onIdle();
    };
    this.#idleTimer = setInterval(look, Math.min(60_000, Math.max(100, afterMs / 10))).unref();
  }

  accept(client: Socket): void {
    const reader = new FrameReader();
    /** Numbers of this client's requests to those of the runner. */
    const ids = new Map<number, number>();
    const key = (id: number): string => `${this.#serialOf(client)} ${id}`;
    this.#clients.add(client);
    client.on('error', () => client.destroy());
    client.on('data', (piece: Buffer) => {
      try {
        for (const frame of reader.push(piece)) this.#fromClient(client, ids, key(frame.id), frame);
      } catch {
        client.destroy();
      }
    });
    client.on('close', () => {
      this.#clients.delete(client);
      for (const held of this.#holds) if (held.startsWith(`${this.#serialOf(client)} `)) this.#holds.delete(held);
      for (const own of ids.values()) {
        if (this.#requests.delete(own)) this.#toRunner(encodeFrame(FRAME.cancel, own));
      }
    });
  }

  /** The runner, started where it does not run. */
  runner(): Promise<Runner> {
    if (this.#runner !== undefined) return this.#runner;
    const starting = this.#options.startRunner((frame) => this.#fromRunner(frame));
    this.#runner = starting;
    const forget = (why: string): void => {
      if (this.#runner === starting) this.#runner = undefined;
      for (const id of [...this.#requests.keys()]) this.#finish(id, FRAME.failure, Buffer.from(why));
    };
    starting.then(
      (runner) => void runner.ended.then(forget),
      (error: Error) => forget(error.message),
    );
    return starting;
  }

  close(): void {
    clearInterval(this.#idleTimer);
    for (const client of this.#clients) client.destroy();
    this.#runner?.then(
      (runner) => runner.kill('the session ends'),
      () => undefined,
    );
  }

  readonly #serials = new WeakMap<Socket, number>();
  #lastSerial = 0;
  #serialOf(client: Socket): number {
    const serial = this.#serials.get(client) ?? ++this.#lastSerial;
    this.#serials.set(client, serial);
    return serial;
  }

  #fromClient(client: Socket, ids: Map<number, number>, hold: string, frame: Frame): void {
    const { kind, id, bytes } = frame;
    this.#lastMs = performance.now();
    if (kind === FRAME.start) {
      if (isHold(bytes)) this.#holds.add(hold);
      else this.#start(client, ids, frame);
      return;
    }
    const own = ids.get(id);
    const request = own === undefined ? undefined : this.#requests.get(own);
    if (kind === FRAME.cancel) this.#holds.delete(hold);
    if (own === undefined || request === undefined || kind > FRAME.taken) return;
    if (kind === FRAME.taken) request.underWay = Math.max(0, request.underWay - countOf(frame));
    if (kind === FRAME.input) request.inputUnderWay += bytes.length;
    // Ended here, whatever the runner does: one that is silent must not keep it open.
    if (kind === FRAME.cancel) this.#finish(own, FRAME.failure, Buffer.from('the request was cancelled'));
    this.#toRunner(encodeFrame(kind as FrameKind, own, bytes));
  }

  #start(client: Socket, ids: Map<number, number>, { id, bytes }: Frame): void {
    if (this.#requests.size >= MAX_REQUESTS) {
      writeTo(client, encodeFrame(FRAME.failure, id, Buffer.from('too many requests are under way')));
      return;
    }
    const own = this.#nextId;
    this.#nextId = (this.#nextId % 0xffff_fff0) + 1;
    ids.set(id, own);
    this.#requests.set(own, { client, id, ids, underWay: 0, inputUnderWay: 0 });
    this.#toRunner(encodeFrame(FRAME.start, own, bytes));
  }

  /** In order, also while the runner is being started. */
  #toRunner(frame: Buffer): void {
    this.runner().then(
      (runner) => runner.write(frame),
      // The requests have failed with this reason.
      () => undefined,
    );
  }

  #fromRunner(frame: Frame): void {
    const { kind, id, bytes } = frame;
    const request = this.#requests.get(id);
    // Cancelled, of a client that left, or the runner made it up.
    if (request === undefined) return;
    if (kind === FRAME.exit || kind === FRAME.result || kind === FRAME.failure) {
      this.#finish(id, kind, bytes);
      return;
    }
    if (kind === FRAME.stdout || kind === FRAME.stderr) {
      // It would count for nothing, and cost memory.
      if (bytes.length === 0) return;
      request.underWay += bytes.length;
      if (request.underWay > WINDOW_BYTES) {
        this.#endRunner('the runner inside was ended: it sent more than was asked for');
        return;
      }
    } else if (kind === FRAME.inputTaken) {
      const count = countOf(frame);
      if (count === 0) return;
      request.inputUnderWay -= count;
      if (request.inputUnderWay < 0) {
        this.#endRunner('the runner inside was ended: it took more than it was sent');
        return;
      }
    } else return;
    writeTo(request.client, encodeFrame(kind, request.id, bytes));
  }

  #endRunner(why: string): void {
    this.#runner?.then(
      (runner) => runner.kill(why),
      () => undefined,
    );
  }

  #finish(id: number, kind: FrameKind, bytes: Buffer): void {
    const request = this.#requests.get(id);
    this.#requests.delete(id);
    request?.ids.delete(request.id);
    this.#lastMs = performance.now();
    if (request !== undefined) writeTo(request.client, encodeFrame(kind, request.id, bytes));
  }
}

/** A client that does not read is disconnected. */
function writeTo(client: Socket, frame: Buffer): void {
  client.write(frame);
  if (client.writableLength > MAX_UNREAD_BYTES) client.destroy();
}

function isHold(bytes: Buffer): boolean {
  // Most requests are commands: only a short one can be this.
  return bytes.length < 64 && (jsonOf(bytes) as { readonly kind?: unknown } | undefined)?.kind === 'hold';
}

function listen(server: Server, socket: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(socket, () => resolve());
  });
}

import { Duplex } from 'node:stream';
import type { RelayMessage } from '../../core/types/gateway.ts';

const WINDOW = 256 * 1024;
const CHUNK = 32 * 1024;

/**
 * The host's end of a stream to a port on the agent's loopback. The gateway's end is in images/gateway/relay.mjs; each side
 * sends a window of bytes and then waits. It has the methods of a socket that node:http calls.
 */
export class AgentPortStream extends Duplex {
  /** Bytes to the agent, and from it. */
  sentBytes = 0;
  receivedBytes = 0;
  readonly #id: number;
  readonly #send: (message: RelayMessage) => void;
  #credit = WINDOW;
  #unread = 0;
  #blocked: { readonly bytes: Buffer; readonly done: () => void } | undefined;

  constructor(id: number, send: (message: RelayMessage) => void) {
    super({ allowHalfOpen: true });
    this.#id = id;
    this.#send = send;
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#blocked = { bytes, done };
    this.#pushOut();
  }

  override _final(done: () => void): void {
    this.#send({ type: 'relay-end', id: this.#id });
    done();
  }

  override _read(): void {
    if (this.#unread === 0) return;
    this.#send({ type: 'relay-ack', id: this.#id, bytes: this.#unread });
    this.#unread = 0;
  }

  takeMessage(message: RelayMessage): void {
    if (message.type === 'relay-data') this.#receive(Buffer.from(message.data, 'base64'));
    else if (message.type === 'relay-ack') {
      this.#credit = Math.min(WINDOW, this.#credit + message.bytes);
      this.#pushOut();
    } else if (message.type === 'relay-end') this.push(null);
    else this.destroy(message.type === 'relay-close' && message.why !== undefined ? new Error(message.why) : undefined);
  }

  setKeepAlive(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setTimeout(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  #receive(bytes: Buffer): void {
    this.receivedBytes += bytes.length;
    this.#unread += bytes.length;
    if (this.#unread > WINDOW) {
      this.destroy(new Error('more bytes than were asked for'));
      return;
    }
    if (this.push(bytes)) this._read();
  }

  #pushOut(): void {
    while (this.#blocked !== undefined && this.#credit > 0) {
      const { bytes, done } = this.#blocked;
      const part = bytes.subarray(0, Math.min(this.#credit, CHUNK));
      this.#credit -= part.length;
      this.sentBytes += part.length;
      this.#send({ type: 'relay-data', id: this.#id, data: part.toString('base64') });
      const rest = bytes.subarray(part.length);
      this.#blocked = rest.length > 0 ? { bytes: rest, done } : undefined;
      if (rest.length === 0) done();
    }
  }
}

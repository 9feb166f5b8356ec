// Streams over the host, over stdio: to the provider address, the proxy or the user's own services that run-claude names,
// and from the host to a port of the agent. Each stream has a window, so that a slow one neither fills memory nor holds up
// the others.
import { Duplex } from 'node:stream';

const WINDOW = 256 * 1024;
const CHUNK = 32 * 1024;

/** @typedef {import('../../src/core/types/gateway.ts').RelayMessage} RelayMessage */

class RelayStream extends Duplex {
  /** @param {number} id @param {(message: RelayMessage) => void} send */
  constructor(id, send) {
    super({ allowHalfOpen: true });
    this.id = id;
    this.send = send;
    this.credit = WINDOW;
    this.unread = 0;
    /** @type {{ bytes: Buffer, done: (error?: Error | null) => void } | undefined} */
    this.blocked = undefined;
  }

  /** @override @param {Buffer} bytes @param {string} _encoding @param {(error?: Error | null) => void} done */
  _write(bytes, _encoding, done) {
    this.blocked = { bytes, done };
    this.pushOut();
  }

  pushOut() {
    while (this.blocked !== undefined && this.credit > 0) {
      const { bytes, done } = this.blocked;
      const part = bytes.subarray(0, Math.min(this.credit, CHUNK));
      this.credit -= part.length;
      this.send({ type: 'relay-data', id: this.id, data: part.toString('base64') });
      const rest = bytes.subarray(part.length);
      this.blocked = rest.length > 0 ? { bytes: rest, done } : undefined;
      if (rest.length === 0) done();
    }
  }

  /** @override */
  _read() {
    if (this.unread === 0) return;
    this.send({ type: 'relay-ack', id: this.id, bytes: this.unread });
    this.unread = 0;
  }

  /** @override @param {(error?: Error | null) => void} done */
  _final(done) {
    this.send({ type: 'relay-end', id: this.id });
    done();
  }

  // http and tls call these methods of a socket.
  setKeepAlive() {
    return this;
  }
  setNoDelay() {
    return this;
  }
  setTimeout() {
    return this;
  }
  ref() {
    return this;
  }
  unref() {
    return this;
  }

  /** @param {RelayMessage} message */
  receive(message) {
    if (message.type === 'relay-data') {
      const bytes = Buffer.from(message.data, 'base64');
      this.unread += bytes.length;
      if (this.push(bytes)) this._read();
    } else if (message.type === 'relay-ack') {
      this.credit += message.bytes;
      this.pushOut();
    } else if (message.type === 'relay-end') this.push(null);
    else if (message.type === 'relay-close' && message.why !== undefined) {
      const { why, code } = message;
      this.destroy(Object.assign(new Error(why), code === undefined ? {} : { code }));
    } else this.destroy();
  }
}

/** @param {(message: RelayMessage) => void} send */
export function createRelay(send) {
  /** @type {Map<number, RelayStream>} */
  const streams = new Map();
  let last = 0;
  /** @param {number} id */
  const add = (id) => {
    const stream = new RelayStream(id, send);
    streams.set(id, stream);
    stream.once('close', () => {
      const why = stream.errored?.message;
      if (streams.delete(id)) send({ type: 'relay-close', id, ...(why === undefined ? {} : { why }) });
    });
    return stream;
  };
  return {
    /** @param {import('../../src/core/types/gateway.ts').RelayTarget} to @returns {Duplex} */
    open(to) {
      last += 1;
      const stream = add(last);
      send({ type: 'relay-open', id: last, to });
      return stream;
    },
    /** A stream that the host opened; its numbers are negative. @param {number} id @returns {Duplex} */
    accept: (id) => add(id),
    /** @param {RelayMessage} message */
    take(message) {
      const stream = streams.get(message.id);
      if (message.type === 'relay-close') streams.delete(message.id);
      stream?.receive(message);
    },
  };
}

// Two byte streams joined, with their ends, errors and limits.

import net from 'node:net';

/** @typedef {import('node:stream').Duplex} Duplex */

const INLET = 256 * 1024;

/**
 * Reads what a server sends into one buffer that is reused: half the processor time of a stream's own chunks. It is made
 * before the connection (`onread` of net.connect). The first part that arrives before `join` is kept here, the rest stays
 * in the kernel.
 */
export class Inlet {
  constructor() {
    /** @type {Buffer | undefined} */
    this.early = undefined;
    /** @type {((bytes: Buffer) => boolean) | undefined} */
    this.take = undefined;
    this.onread = {
      buffer: Buffer.allocUnsafeSlow(INLET),
      callback: (/** @type {number} */ size, /** @type {Uint8Array} */ bytes) => {
        const part = Buffer.from(bytes.buffer, bytes.byteOffset, size);
        if (this.take !== undefined) return this.take(part);
        this.early = Buffer.concat([this.early ?? Buffer.alloc(0), part]);
        return false;
      },
    };
  }

  /** Forwards the bytes, each part before the buffer is reused.
   * @param {import('node:net').Socket} from @param {Duplex} to @param {(size: number) => void} count */
  join(from, to, count) {
    const resume = () => void from.resume();
    this.take = (part) => {
      count(part.length);
      // In most cases it is written at once. If not, the buffer is in use until then.
      to.write(part, resume);
      return to.writableLength === 0;
    };
    from.once('end', () => to.end());
    if (this.early === undefined) resume();
    else this.take(this.early);
  }
}

/** @param {Duplex} stream is destroyed after its writes are flushed */
function finish(stream) {
  if (stream.writableFinished || stream.destroyed) stream.destroy();
  else {
    stream.once('finish', () => stream.destroy());
    stream.end();
  }
}

/**
 * Joins two streams until both have ended; half-closed ones stay open the other way. Resolves with the bytes each way,
 * never rejects: a broken connection is an ordinary end.
 * @param {Duplex} client @param {Duplex} server @param {import('../../src/core/types/gateway.ts').GatewayLimits} limits
 * @param {Inlet} [inlet] what the server's socket reads into, when it was made with one
 * @param {import('node:stream').Transform} [through] what the client's bytes pass through: its error ends both
 * @returns {Promise<{ up: number, down: number, cut?: string, error?: Error }>}
 */
export function join(client, server, limits, inlet, through) {
  let up = 0;
  let down = 0;
  /** @type {string | undefined} */
  let cut;
  /** @type {Error | undefined} */
  let broken;
  let last = Date.now();
  return new Promise((done) => {
    /** @param {string} why */
    const stop = (why) => {
      cut ??= why;
      client.destroy();
      server.destroy();
    };
    const idle = setInterval(
      () => {
        if (Date.now() - last > limits.idleMs) stop('idle for too long');
      },
      Math.min(limits.idleMs, 30_000),
    );
    let open = 2;
    /** @param {Duplex} other */
    const closed = (other) => () => {
      open -= 1;
      finish(other);
      if (open > 0) return;
      clearInterval(idle);
      through?.destroy();
      done({ up, down, ...(cut === undefined ? {} : { cut }), ...(broken === undefined ? {} : { error: broken }) });
    };
    client.once('close', closed(server));
    server.once('close', closed(client));
    for (const stream of [client, server])
      stream.on('error', () => {
        client.destroy();
        server.destroy();
      });
    client.on('data', (chunk) => {
      up += chunk.length;
      last = Date.now();
      if (up > limits.bytesPerConnection) stop('too many bytes sent');
    });
    /** @param {number} size */
    const received = (size) => {
      down += size;
      last = Date.now();
      if (down > limits.bytesPerConnection) stop('too many bytes received');
    };
    if (through === undefined) client.pipe(server);
    else {
      through.on('error', (error) => {
        broken = error;
        stop(error.message);
      });
      client.pipe(through).pipe(server);
    }
    if (inlet !== undefined && server instanceof net.Socket) inlet.join(server, client, received);
    else server.on('data', (chunk) => received(chunk.length)).pipe(client);
  });
}

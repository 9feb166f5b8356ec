// Two byte streams joined, with their ends, errors and limits.

/** @typedef {import('node:stream').Duplex} Duplex */

/** @param {Duplex} stream flushes what is written, then goes */
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
 * @param {Duplex} client @param {Duplex} server @param {import('../../src/types/gateway.ts').GatewayLimits} limits
 * @returns {Promise<{ up: number, down: number, cut?: string }>}
 */
export function join(client, server, limits) {
  let up = 0;
  let down = 0;
  /** @type {string | undefined} */
  let cut;
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
      done({ up, down, ...(cut === undefined ? {} : { cut }) });
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
    server.on('data', (chunk) => {
      down += chunk.length;
      last = Date.now();
      if (down > limits.bytesPerConnection) stop('too many bytes received');
    });
    client.pipe(server);
    server.pipe(client);
  });
}

// Limits of open and waiting requests, so that an agent cannot fill the gateway's memory.

/** A client may send requests without waiting for answers. After this many it needs a new connection. */
const REQUESTS = 256;

/** @param {import('node:http').Server} server @param {import('../../src/core/types/gateway.ts').GatewayLimits} limits */
export function bound(server, limits) {
  server.maxConnections = limits.connections;
  server.maxRequestsPerSocket = REQUESTS;
  server.headersTimeout = limits.headMs;
  // Without traffic. A tunnel has its own limit.
  server.timeout = limits.idleMs;
}

/** Counts requests that are being answered. @param {number} most */
export function createTurns(most) {
  let active = 0;
  return {
    /** Throws the result of `full` when `most` requests are active.
     * @param {() => Error} full @param {() => Promise<T>} work @template T @returns {Promise<T>} */
    async take(full, work) {
      if (active >= most) throw full();
      active += 1;
      try {
        return await work();
      } finally {
        active -= 1;
      }
    },
  };
}

/** Ends a TLS client's connection when its handshake takes too long.
 * @param {import('node:tls').TLSSocket} socket @param {number} ms */
export function handshakeWithin(socket, ms) {
  const timer = setTimeout(() => socket.destroy(new Error(`no TLS handshake in ${ms / 1000} s`)), ms);
  const over = () => clearTimeout(timer);
  socket.once('secureConnect', over).once('secure', over).once('close', over);
}

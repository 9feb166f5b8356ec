// What one agent may have open and waiting, so that no flood of its fills the gateway's memory.

/** Requests sent without waiting for answers are all read at once: this many of one connection, then a new one. */
const REQUESTS = 256;

/** @param {import('node:http').Server} server @param {import('../../src/types/gateway.ts').GatewayLimits} limits */
export function bound(server, limits) {
  server.maxConnections = limits.connections;
  server.maxRequestsPerSocket = REQUESTS;
  server.headersTimeout = limits.headMs;
  // Of silence; a tunnel has its own.
  server.timeout = limits.idleMs;
}

/** Counts what is being answered. @param {number} most */
export function createTurns(most) {
  let active = 0;
  return {
    /** Throws what `full` gives when there are as many as may be.
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

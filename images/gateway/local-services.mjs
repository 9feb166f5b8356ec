// Services of the user's own machine that the session may use (--allow-local): bytes in both directions, through the host.
import net from 'node:net';

/** Of each service at the same time. */
const MAX_CONNECTIONS = 64;

/**
 * @param {number} port @param {ReturnType<typeof import('./relay.mjs').createRelay>} relay
 * @param {(entry: import('./proxy.mjs').Entry) => void} log
 */
export function createLocalService(port, relay, log) {
  const server = net.createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    const since = performance.now();
    const stream = relay.open(`local ${port}`);
    /** @type {string | undefined} */
    let why;
    socket.on('error', () => socket.destroy());
    stream.on('error', (error) => {
      why = error.message;
    });
    socket.on('close', () => {
      // A stream that the service keeps open would outlast the connection, and the limit above counts connections.
      if (!socket.readableEnded || !stream.readableEnded) stream.destroy();
      log({
        kind: 'local',
        verdict: why === undefined ? 'passed' : 'failed',
        host: '127.0.0.1',
        port,
        method: 'CONNECT',
        up: socket.bytesRead,
        down: socket.bytesWritten,
        ms: Math.round(performance.now() - since),
        ...(why === undefined ? {} : { why }),
      });
    });
    stream.on('close', () => socket.destroySoon());
    socket.pipe(stream);
    stream.pipe(socket);
  });
  server.maxConnections = MAX_CONNECTIONS;
  return server;
}

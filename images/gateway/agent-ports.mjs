// From the host to a port on the agent's loopback. The agent's container has no address: its forwarder keeps connections
// to this socket open, and the gateway sends the port on one of them. The agent may open such connections too, and then
// answers in place of its own program: what arrives from there is the agent's in any case.
import net from 'node:net';

/** Connections that wait for a port. The forwarder keeps four. */
const MAX_WAITING = 16;
/** Streams of the host that are open or wait. */
const MAX_STREAMS = 256;
/** From a request of the host until the agent's program has accepted the connection. */
const CONNECT_MS = 5000;
const NOBODY = 'nothing listens on this port inside';
const SILENT = 'the session does not answer';

/** @typedef {ReturnType<typeof import('./relay.mjs').createRelay>} Relay */

/** @param {Relay} relay */
export function createAgentPorts(relay) {
  /** @type {net.Socket[]} */
  const waiting = [];
  /** @type {{ port: number, stream: import('node:stream').Duplex }[]} */
  const asked = [];
  let open = 0;

  const serveNext = () => {
    while (asked.length > 0 && waiting.length > 0) {
      const request = asked.shift();
      const socket = waiting.shift();
      if (request === undefined || socket === undefined) return;
      if (request.stream.destroyed) waiting.unshift(socket);
      else
        join(socket, request.port, request.stream, () => {
          if (request.stream.destroyed) return;
          asked.unshift(request);
          serveNext();
        });
    }
  };
  const server = net.createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    if (waiting.length >= MAX_WAITING) {
      socket.destroy();
      return;
    }
    waiting.push(socket);
    const leave = () => {
      const at = waiting.indexOf(socket);
      if (at < 0) return;
      waiting.splice(at, 1);
      socket.destroy();
    };
    // Nothing may arrive on it before the gateway has sent a port.
    socket.on('data', leave).on('end', leave).on('close', leave);
    serveNext();
  });
  return {
    server,
    /** The host opened a stream to a port of the agent. @param {number} id @param {number} port */
    connect(id, port) {
      const stream = relay.accept(id);
      stream.on('error', () => undefined);
      if (open >= MAX_STREAMS) {
        stream.destroy(new Error('too many connections'));
        return;
      }
      open += 1;
      const timer = setTimeout(() => stream.destroy(new Error(SILENT)), CONNECT_MS);
      stream.once('joined', () => clearTimeout(timer));
      stream.once('close', () => {
        clearTimeout(timer);
        open -= 1;
        const at = asked.findIndex((request) => request.stream === stream);
        if (at >= 0) asked.splice(at, 1);
      });
      asked.push({ port, stream });
      serveNext();
    },
  };
}

/**
 * `again` is called where the connection ended before it was joined: the forwarder may have been restarted.
 * @param {net.Socket} socket @param {number} port @param {import('node:stream').Duplex} stream @param {() => void} again
 */
function join(socket, port, stream, again) {
  for (const event of ['data', 'end', 'close']) socket.removeAllListeners(event);
  socket.pause();
  let isJoined = false;
  const take = () => {
    const status = socket.read(1);
    if (status === null) return;
    socket.off('readable', take);
    if (status[0] !== 0) {
      stream.destroy(new Error(NOBODY));
      return;
    }
    isJoined = true;
    stream.emit('joined');
    socket.pipe(stream);
    stream.pipe(socket);
  };
  socket.on('readable', take);
  socket.on('end', () => {
    if (!isJoined) socket.destroy();
  });
  socket.on('close', () => {
    if (!isJoined) again();
    // What the program sent before its end is still on its way to the host.
    else if (!socket.readableEnded) stream.destroy();
  });
  stream.on('close', () => socket.destroy());
  socket.write(Buffer.from([port >> 8, port & 255]));
}

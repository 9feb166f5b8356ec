// The one port of a gateway whose agent is in another pod. A connection begins with the session's word, a dot, the name of a
// socket and a newline, and is from then on a connection to that socket. Other pods do not know the word.
import net from 'node:net';

/** The longest name. */
const NAME_BYTES = 62;
const NEWLINE = 0x0a;

/**
 * @param {string} word
 * @param {ReadonlyMap<string, net.Server>} servers by the name of their socket
 * @param {import('../../src/core/types/gateway.ts').GatewayLimits} limits
 * @returns {net.Server}
 */
export function createPodDoor(word, servers, limits) {
  const named = new Map([...servers].map(([name, server]) => [`${word}.${name}`, server]));
  const door = net.createServer({ allowHalfOpen: true }, (socket) => {
    let head = Buffer.alloc(0);
    const late = setTimeout(() => socket.destroy(), limits.headMs);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => clearTimeout(late));
    /** @param {Buffer} bytes */
    const read = (bytes) => {
      head = Buffer.concat([head, bytes]);
      const end = head.indexOf(NEWLINE);
      if (end === -1 && head.length <= NAME_BYTES) return;
      clearTimeout(late);
      socket.off('data', read).pause();
      const server = end === -1 ? undefined : named.get(head.toString('latin1', 0, end));
      if (server === undefined) {
        socket.destroy();
        return;
      }
      // As a server of its own would make its sockets: a client may end its part and wait for the answer.
      socket.allowHalfOpen = Reflect.get(server, 'allowHalfOpen') === true;
      if (end + 1 < head.length) socket.unshift(head.subarray(end + 1));
      server.emit('connection', socket);
      socket.resume();
    };
    socket.on('data', read);
  });
  door.maxConnections = limits.connections;
  return door;
}

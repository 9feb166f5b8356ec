import type { ClientRequest, Agent as HttpAgent } from 'node:http';
import type { Duplex } from 'node:stream';

/** What Node's agents have and its types leave out. */
interface AgentInside {
  addRequest(request: ClientRequest, ...rest: readonly unknown[]): void;
  keepSocketAlive(socket: Duplex): boolean;
  reuseSocket(socket: Duplex, request: ClientRequest): void;
}

/** Servers end connections that are idle for five seconds, or for longer. */
const MAX_IDLE_MS = 4000;

/**
 * Makes an agent drop each idle connection that the other side has ended, or would soon end. Node writes the next request
 * to such a connection where this process was busy when the end arrived. So a request waits until what has arrived was
 * read, which takes two turns of the event loop, and the end of an idle connection destroys it at once.
 */
export function dropEndedConnections<T extends HttpAgent>(agent: T, maxIdleMs = MAX_IDLE_MS): T {
  const idle = new WeakMap<Duplex, () => void>();
  const inside = agent as unknown as AgentInside;
  const { addRequest, keepSocketAlive, reuseSocket } = inside;
  inside.addRequest = (...request) => void setImmediate(() => setImmediate(() => addRequest.apply(agent, request)));
  inside.keepSocketAlive = (socket) => {
    const drop = (): void => void socket.destroy();
    const timer = Number.isFinite(maxIdleMs) ? setTimeout(drop, maxIdleMs).unref() : undefined;
    socket.once('end', drop);
    idle.set(socket, () => {
      clearTimeout(timer);
      socket.off('end', drop);
    });
    return keepSocketAlive.call(agent, socket);
  };
  inside.reuseSocket = (socket, request) => {
    idle.get(socket)?.();
    reuseSocket.call(agent, socket, request);
  };
  return agent;
}

/** ESSH: the ssh of the connection has ended, because its shared login has. */
const LOST: readonly string[] = ['ECONNRESET', 'EPIPE', 'ESSH'];

/** Whether a request may be sent once more: its connection was an idle one, and has ended without an answer. */
export function isUnanswered({ reusedSocket }: ClientRequest, error: unknown): boolean {
  const { code, statusCode } = error as { readonly code?: string; readonly statusCode?: number };
  return reusedSocket && statusCode === undefined && LOST.includes(code ?? '');
}

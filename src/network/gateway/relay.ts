import { connect, type Socket } from 'node:net';
import type { RelayMessage, RelayTarget, ToGateway } from '../../core/types/gateway.ts';
import { AgentPortStream } from './agent-port-stream.ts';

const WINDOW = 256 * 1024;
const CHUNK = 32 * 1024;

/** The only addresses that the gateway can reach through this machine. It chooses one by its name. */
export type RelayTargets = Readonly<Partial<Record<RelayTarget, { readonly host: string; readonly port: number }>>>;

export interface Relay {
  take(message: RelayMessage): void;
  /** A stream to a port on the agent's loopback. It fails where nothing listens there. */
  openPort(port: number): AgentPortStream;
  close(): void;
}

/** The host's end of the gateway's streams. The gateway's end is images/gateway/relay.mjs. */
export function createRelay(targets: RelayTargets, send: (message: ToGateway) => void): Relay {
  const streams = new Map<number, RelayedStream>();
  let lastOwn = 0;
  return {
    openPort(port) {
      // The gateway counts up.
      lastOwn -= 1;
      const id = lastOwn;
      const stream = new AgentPortStream(id, send);
      streams.set(id, { take: (message) => stream.takeMessage(message) });
      stream.once('close', () => {
        if (streams.delete(id)) send({ type: 'relay-close', id });
      });
      send({ type: 'port-open', id, port });
      return stream;
    },
    take(message) {
      if (message.type === 'relay-open') {
        const target = targets[message.to];
        if (target === undefined) send({ type: 'relay-close', id: message.id, why: 'unknown relay target' });
        else
          streams.set(
            message.id,
            relayedStream(message.id, connect({ ...target, noDelay: true, allowHalfOpen: true }), send),
          );
        return;
      }
      const stream = streams.get(message.id);
      if (message.type === 'relay-close') streams.delete(message.id);
      stream?.take(message);
    },
    close() {
      const open = [...streams.values()];
      streams.clear();
      for (const stream of open) stream.take({ type: 'relay-close', id: 0, why: 'the gateway ended' });
    },
  };
}

interface RelayedStream {
  take(message: RelayMessage): void;
}

function relayedStream(id: number, socket: Socket, send: (message: RelayMessage) => void): RelayedStream {
  let credit = WINDOW;
  let closed = false;
  socket.on('data', (bytes: Buffer) => {
    for (let at = 0; at < bytes.length; at += CHUNK)
      send({ type: 'relay-data', id, data: bytes.subarray(at, at + CHUNK).toString('base64') });
    credit -= bytes.length;
    if (credit <= 0) socket.pause();
  });
  socket.on('end', () => send({ type: 'relay-end', id }));
  socket.on('error', ({ message, code }: NodeJS.ErrnoException) => {
    closed = true;
    send({ type: 'relay-close', id, why: message, ...(code === undefined ? {} : { code }) });
  });
  socket.on('close', () => {
    if (!closed) send({ type: 'relay-close', id });
  });
  return {
    take(message) {
      if (message.type === 'relay-data') {
        const bytes = Buffer.from(message.data, 'base64');
        socket.write(bytes, () => send({ type: 'relay-ack', id, bytes: bytes.length }));
      } else if (message.type === 'relay-ack') {
        credit += message.bytes;
        if (credit > 0) socket.resume();
      } else if (message.type === 'relay-end') socket.end();
      else {
        closed = true;
        socket.destroy();
      }
    },
  };
}

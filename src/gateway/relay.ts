import { connect, type Socket } from 'node:net';
import type { RelayMessage } from '../types/gateway.ts';

const WINDOW = 256 * 1024;
const CHUNK = 32 * 1024;

/** The only addresses that the gateway can reach through this machine. It chooses one by its name. */
export type RelayTargets = Readonly<
  Partial<Record<'provider' | 'proxy', { readonly host: string; readonly port: number }>>
>;

export interface Relay {
  take(message: RelayMessage): void;
  close(): void;
}

/** The host's end of the gateway's streams. The gateway's end is images/gateway/relay.mjs. */
export function createRelay(targets: RelayTargets, send: (message: RelayMessage) => void): Relay {
  const streams = new Map<number, RelayedStream>();
  return {
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
      streams.get(message.id)?.take(message);
      if (message.type === 'relay-close') streams.delete(message.id);
    },
    close() {
      for (const stream of streams.values()) stream.take({ type: 'relay-close', id: 0 });
      streams.clear();
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
  socket.on('error', (error) => {
    closed = true;
    send({ type: 'relay-close', id, why: error.message });
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

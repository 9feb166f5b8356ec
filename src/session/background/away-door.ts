import { chmodSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { makeOwnedDir } from '../../core/host/files/owned-dir.ts';
import { asObject } from '../../core/text/json-in.ts';
import { encodeFrame, encodeJson, FRAME, type Frame, FrameReader, PIECE_BYTES } from '../kept/frames.ts';
import { removePlace, writePlace } from '../kept/place.ts';
import { jsonOf } from '../kept/requests.ts';
import type { SessionDoor } from '../stage/deps.ts';
import type { AwayTerminal } from './away-terminal.ts';

// What a terminal and the keeper of a session say to each other: `start` is the size of the terminal, at first and
// whenever it changes; `input` are keys; `stdout` and `stderr` are output; `exit` is the end of the agent.

/** Bytes that wait for a terminal which does not read: it has lost its connection, or its window is suspended. */
const MAX_UNREAD_BYTES = 1024 ** 2;
const MAX_SIZE = 5000;

/** The door of a session in the background: a socket on which this user's terminals reach the agent's. */
export function awayDoor(sessionDir: string, away: AwayTerminal, onOpen: () => void): SessionDoor {
  const clients = new Set<Socket>();
  let server: Server | undefined;
  let dir: string | undefined;
  return {
    async open() {
      removePlace(sessionDir);
      dir = await makeOwnedDir(tmpdir(), 'run-claude-door-');
      const socket = path.join(dir, 's');
      server = createServer((client) => accept(client, clients, away));
      await listen(server, socket);
      chmodSync(socket, 0o600);
      writePlace(sessionDir, socket);
      onOpen();
    },
    async close() {
      removePlace(sessionDir);
      server?.close();
      for (const client of clients) client.end(encodeJson(FRAME.exit, 0, {}));
      if (dir !== undefined) await rm(dir, { recursive: true, force: true });
    },
  };
}

function accept(client: Socket, clients: Set<Socket>, away: AwayTerminal): void {
  const reader = new FrameReader();
  let hide = (): void => undefined;
  let isShown = false;
  const write = (stream: 'stdout' | 'stderr', bytes: Buffer): void => {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES)
      client.write(encodeFrame(FRAME[stream], 0, bytes.subarray(at, at + PIECE_BYTES)));
    if (client.writableLength > MAX_UNREAD_BYTES) client.destroy();
  };
  const take = ({ kind, bytes }: Frame): void => {
    if (kind === FRAME.input) away.type(bytes);
    if (kind !== FRAME.start) return;
    const size = sizeOf(jsonOf(bytes));
    if (size !== undefined) away.resize(size.columns, size.rows);
    if (isShown) return;
    isShown = true;
    hide = away.show({ write });
  };
  clients.add(client);
  client.on('error', () => client.destroy());
  client.on('close', () => {
    clients.delete(client);
    hide();
  });
  client.on('data', (piece: Buffer) => {
    try {
      for (const frame of reader.push(piece)) take(frame);
    } catch {
      client.destroy();
    }
  });
}

function sizeOf(value: unknown): { readonly columns: number; readonly rows: number } | undefined {
  const { columns, rows } = asObject(value) ?? {};
  const isSize = (one: unknown): one is number => Number.isInteger(one) && Number(one) > 0 && Number(one) <= MAX_SIZE;
  return isSize(columns) && isSize(rows) ? { columns, rows } : undefined;
}

function listen(server: Server, socket: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(socket, () => resolve());
  });
}

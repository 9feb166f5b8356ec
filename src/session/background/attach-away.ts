import { connect, type Socket } from 'node:net';
import { PassThrough, Writable } from 'node:stream';
import type { SessionRecord } from '../../core/types/session.ts';
import { attachTerminal, type TerminalStreams } from '../../terminal/attach/attach.ts';
import { encodeFrame, encodeJson, FRAME, FrameReader, PIECE_BYTES } from '../kept/frames.ts';
import { notUp, readPlace } from '../kept/place.ts';

/** How a terminal was left: the user let it go, the agent ended, or the connection was lost. */
export type AttachEnd = 'detached' | 'ended' | 'lost';

const CLEARED = '\x1b[H\x1b[2J';

/**
 * Shows the agent's terminal of a session in the background on these streams until the agent ends or the user leaves it:
 * with Ctrl-P Ctrl-Q, or, where the agent has no terminal, with Ctrl-C. The agent draws its screen anew at the
 * size of this one.
 *
 * @throws {RunClaudeError} SESSION_ENDED where its keeper cannot be reached.
 */
export async function attachAway(record: SessionRecord, streams: TerminalStreams): Promise<AttachEnd> {
  const { tty } = record.plan;
  const socket = await reach(record);
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  let end: AttachEnd = 'lost';
  const over = new Promise<number>((resolve) => {
    const finish = (how: AttachEnd): void => {
      end = how;
      stdout.end();
      stderr.end();
      resolve(0);
    };
    const reader = new FrameReader();
    socket.on('data', (piece: Buffer) => {
      for (const { kind, bytes } of reader.push(piece)) {
        if (kind === FRAME.stdout) stdout.write(bytes);
        else if (kind === FRAME.stderr) stderr.write(bytes);
        else if (kind === FRAME.exit) finish('ended');
      }
    });
    // The keeper was killed, or this terminal did not read.
    socket.on('close', () => finish(end));
  });
  const leave = (): void => {
    if (end === 'lost') end = 'detached';
    socket.destroy();
  };
  if (tty && streams.stdout.isTTY === true) streams.stdout.write(CLEARED);
  try {
    const { columns = 80, rows = 24 } = streams.stdout;
    const outcome = await attachTerminal(
      {
        stdin: keysTo(socket),
        stdout,
        stderr,
        start: async () => void socket.write(encodeJson(FRAME.start, 0, { columns, rows })),
        wait: () => over,
        // Nothing that ends this command ends the agent.
        kill: async (signal) => (signal === 'SIGCONT' ? undefined : leave()),
        resize: async (width, height) =>
          void socket.write(encodeJson(FRAME.start, 0, { columns: width, rows: height })),
      },
      { streams, tty, stdin: tty, signals: process, isReattached: true },
    );
    return outcome.status === undefined ? 'detached' : end;
  } finally {
    socket.destroy();
  }
}

function keysTo(socket: Socket): Writable {
  return new Writable({
    write(keys: Buffer, _encoding, done) {
      for (let at = 0; at < keys.length; at += PIECE_BYTES)
        socket.write(encodeFrame(FRAME.input, 0, keys.subarray(at, at + PIECE_BYTES)));
      done();
    },
  });
}

function reach(record: SessionRecord): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(readPlace(record));
    socket.once('connect', () => {
      socket.removeAllListeners('error');
      socket.on('error', () => socket.destroy());
      resolve(socket);
    });
    socket.once('error', () => reject(notUp(record.id)));
  });
}

import { closeSync, openSync, writeSync } from 'node:fs';
import path from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import type { AttachedTerminal, OutputStream, TerminalStreams } from '../../terminal/attach/attach.ts';

/** A terminal that shows an agent's screen, at the other end of a connection. */
export interface Viewer {
  readonly write: (stream: 'stdout' | 'stderr', bytes: Buffer) => void;
}

/** What the agent of a session without a terminal has in its place: terminals come and go. */
export interface AwayTerminal {
  readonly streams: TerminalStreams;
  /** To be called once the agent has the streams. */
  attached(terminal: Pick<AttachedTerminal, 'modes'>): void;
  /** Adds a terminal, which gets the latest output first. Returns what removes it. */
  show(viewer: Viewer): () => void;
  /** Keys of any of them. */
  type(keys: Buffer): void;
  /** The size of the one that was resized last. */
  resize(columns: number, rows: number): void;
}

export interface AwayOptions {
  /** The agent has its own terminal. */
  readonly tty: boolean;
  /** All that a program without a terminal reads. */
  readonly input?: Uint8Array | undefined;
  /** Where the output of a program without a terminal is kept. */
  readonly outputFile: string;
}

/** A screen full of text, with its colours. */
const MAX_TAIL_BYTES = 64 * 1024;
const MAX_OUTPUT_BYTES = 64 * 1024 ** 2;
const CUT = Buffer.from('\n[the rest is not kept]\n');

/** What the program of a session in the background printed, where it has no terminal. */
export function outputFile(sessionDir: string): string {
  return path.join(sessionDir, 'output');
}

/** Opens the streams of an agent in the background. */
export function openAwayTerminal({ tty, input, outputFile: file }: AwayOptions): AwayTerminal {
  const viewers = new Set<Viewer>();
  const tail = openTail();
  const kept = tty ? undefined : openOutput(file);
  let terminal: Pick<AttachedTerminal, 'modes'> | undefined;
  const sink = (stream: 'stdout' | 'stderr'): OutputStream =>
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        tail.add(chunk);
        kept?.write(chunk);
        for (const viewer of viewers) viewer.write(stream, chunk);
        done();
      },
    });
  const stdin = Object.assign(new PassThrough(), tty ? { isTTY: true, setRawMode: () => undefined } : {});
  if (!tty) stdin.end(input);
  const stdout = Object.assign(sink('stdout'), { isTTY: tty, columns: 80, rows: 24 });
  return {
    streams: { stdin, stdout, stderr: sink('stderr') },
    attached(one) {
      terminal = one;
    },
    show(viewer) {
      viewer.write('stdout', tail.bytes());
      if (tty && terminal !== undefined) viewer.write('stdout', terminal.modes());
      viewers.add(viewer);
      return () => void viewers.delete(viewer);
    },
    type(keys) {
      if (tty) stdin.write(keys);
    },
    resize(columns, rows) {
      Object.assign(stdout, { columns, rows });
      stdout.emit('resize');
    },
  };
}

/** The latest output, in whole pieces as they were written: each is a filtered piece that ends no sequence half-way. */
function openTail() {
  let pieces: Buffer[] = [];
  let length = 0;
  return {
    add(piece: Buffer) {
      pieces.push(piece);
      length += piece.length;
      while (length > MAX_TAIL_BYTES && pieces.length > 1) length -= pieces.shift()?.length ?? 0;
      // Of many small pieces: one each keystroke.
      if (pieces.length > 1024) pieces = [Buffer.concat(pieces)];
    },
    bytes: () => Buffer.concat(pieces).subarray(-2 * MAX_TAIL_BYTES),
  };
}

/** A file of bounded size. One that cannot be written loses the output, and not the session. */
function openOutput(file: string) {
  let left = MAX_OUTPUT_BYTES;
  return {
    write(chunk: Buffer) {
      if (left <= 0) return;
      left -= chunk.length;
      try {
        const fd = openSync(file, 'a', 0o600);
        writeSync(fd, left > 0 ? chunk : CUT);
        closeSync(fd);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === undefined) throw error;
      }
    },
  };
}

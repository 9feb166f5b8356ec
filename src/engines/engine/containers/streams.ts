import { type Duplex, PassThrough, type Readable, type Writable } from 'node:stream';

/** The output of an attached container or exec, taken apart. */
export interface Output {
  readonly stdout: PassThrough;
  readonly stderr: PassThrough;
  /** The lines that were removed from stdout; incomplete when the connection ended before their end. */
  readonly head: Promise<string>;
  /** Resolves when the connection has ended, for any reason. */
  readonly ended: Promise<void>;
}

/** Bytes that are kept of a stderr without a reader. More is dropped, so that it can't stop stdout. */
const UNREAD_BYTES = 1024 * 1024;

/**
 * Splits the engine's attached stream. With a terminal all bytes are stdout, otherwise there are frames with a header of
 * eight bytes (kind, three zeros, length). A slow reader of stdout slows the container down; with docker-modem's own
 * demultiplexer it would fill the memory. The first `headLines` lines are removed from stdout.
 */
export function splitOutput(connection: Readable, { tty, headLines }: { tty: boolean; headLines: number }): Output {
  const stdout = new PassThrough();
  const stderr = new PassThrough({ highWaterMark: UNREAD_BYTES });
  const lines = takeLines(headLines);
  const sinks: Sinks = { stdout, stderr, head: headLines > 0 ? lines.rest : (chunk) => chunk };
  const ended = (tty ? copyAll(connection, sinks) : demultiplex(connection, sinks)).finally(() => {
    stdout.end();
    stderr.end();
    lines.resolve();
  });
  return { stdout, stderr, head: lines.taken, ended };
}

interface Sinks {
  readonly stdout: PassThrough;
  readonly stderr: PassThrough;
  /** The part of a chunk that belongs to stdout. */
  readonly head: (chunk: Buffer) => Buffer;
}

/** Longer than any line of init. */
const LONGEST_HEAD = 16_384;

/** Collects the first lines of the chunks that pass through `rest`, which returns what follows them. */
function takeLines(count: number) {
  let head = Buffer.alloc(0);
  let missing = count;
  let resolveTaken: (lines: string) => void = () => undefined;
  const taken = new Promise<string>((resolve) => {
    resolveTaken = resolve;
  });
  const resolve = (): void => resolveTaken(head.toString('utf8'));
  const rest = (chunk: Buffer): Buffer => {
    let left = chunk;
    while (missing > 0 && left.length > 0) {
      const end = left.indexOf('\n');
      head = Buffer.concat([head, end === -1 ? left : left.subarray(0, end + 1)]);
      left = end === -1 ? Buffer.alloc(0) : left.subarray(end + 1);
      missing = head.length > LONGEST_HEAD ? 0 : missing - (end === -1 ? 0 : 1);
      if (missing === 0) resolve();
    }
    return left;
  };
  return { taken, resolve, rest };
}

async function copyAll(connection: Readable, { stdout, head }: Sinks): Promise<void> {
  for await (const chunk of chunksOf(connection)) await send(stdout, head(chunk));
}

async function demultiplex(connection: Readable, { stdout, stderr, head }: Sinks): Promise<void> {
  let header = Buffer.alloc(0);
  let target = stdout;
  let left = 0;
  for await (const arrived of chunksOf(connection)) {
    let chunk = arrived;
    while (chunk.length > 0) {
      if (left === 0) {
        const taken = 8 - header.length;
        header = Buffer.concat([header, chunk.subarray(0, taken)]);
        chunk = chunk.subarray(taken);
        if (header.length < 8) break;
        target = header[0] === 2 ? stderr : stdout;
        left = header.readUInt32BE(4);
        header = Buffer.alloc(0);
      } else {
        const part = chunk.subarray(0, left);
        chunk = chunk.subarray(part.length);
        left -= part.length;
        if (target === stdout) await send(stdout, head(part));
        else await send(stderr, part, !isRead(stderr));
      }
    }
  }
}

/** A lost connection ends the output. The wait for the container's end reports its cause. */
async function* chunksOf(connection: Readable): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of connection) yield chunk as Buffer;
  } catch {
    return;
  }
}

function isRead(stream: PassThrough): boolean {
  return stream.readableFlowing !== null || stream.listenerCount('readable') > 0;
}

async function send(stream: PassThrough, bytes: Buffer, dropWhenFull = false): Promise<void> {
  if (bytes.length === 0 || stream.destroyed || (dropWhenFull && stream.writableNeedDrain)) return;
  if (stream.write(bytes) || dropWhenFull) return;
  await new Promise<void>((resolve) => {
    const go = (): void => {
      stream.off('drain', go);
      stream.off('close', go);
      resolve();
    };
    stream.on('drain', go);
    stream.on('close', go);
  });
}

/** The bytes of a stream, up to `limit`. The rest is read and dropped. */
export async function collectBytes(stream: Readable, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const room = limit - size;
    if (room <= 0) continue;
    chunks.push((chunk as Buffer).subarray(0, room));
    size += Math.min(room, (chunk as Buffer).length);
  }
  return Buffer.concat(chunks);
}

/** The connection's sending half. The wait for the container's end reports its errors. */
export function inputOf(connection: Duplex): Writable {
  connection.on('error', () => connection.destroy());
  return connection;
}

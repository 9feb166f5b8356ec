import { RunClaudeError } from '../errors.ts';
import { encodeBytes, type RelPath } from '../text/path.ts';
import type { ListedEntry, TreeReader } from '../types/collector.ts';
import {
  encodeRequest,
  type Field,
  type Frame,
  FrameCutter,
  PayloadReader,
  protocolError,
  readEntry,
  type Space,
  WIRE_PATH_MAX,
  WIRE_VERSION,
} from './wire.ts';

/** The host's view of a running collector. It answers requests in order, so many may be under way. */
export interface Collector extends TreeReader {
  /** As TreeReader.list, with a bound of its own and, unless recursive, one level only. */
  listUpTo(root: string, below: string, max: number, recursive: boolean): AsyncIterable<ListedEntry>;
  /** One level below a directory, in the collector's own bytes: to be compared, or read by {@link entriesIn}. */
  listBytes(root: string, below: string, max: number): Promise<Buffer>;
  /** As TreeReader.read, refusing files of more than `maxBytes`. */
  readUpTo(root: string, path: RelPath, maxBytes: number): AsyncIterable<Buffer>;
  /** One entry without following links; undefined when there is none. */
  stat(root: string, path: RelPath): Promise<ListedEntry | undefined>;
  /** Space of the file system that holds a root. */
  space(root: string): Promise<Space>;
  /** Closes the collector's input, so that it ends. */
  close(): void;
}

export interface CollectorStreams {
  readonly stdin: NodeJS.WritableStream;
  readonly stdout: NodeJS.ReadableStream;
}

const SILENCE_MS = 60_000;
const ENTRIES_MAX = 4_000_000;
const CONTENT_MAX = 2 ** 31;
/** Holes are given as zeros in pieces of this size. */
const ZEROS = Buffer.alloc(1 << 20);
/** Content waiting for a slow consumer before the stream is left unread. */
const WAITING_MAX = 8 << 20;

interface Pending {
  frames: Frame[];
  bytes: number;
  wake: (() => void) | undefined;
  drained: (() => void) | undefined;
  abandoned: boolean;
  readonly slow: boolean;
}

/**
 * Speaks to a collector over its stdio, after checking that it is the version that we know. Throws RunClaudeError
 * COLLECTOR_LOST when it ends or is silent for a minute, COLLECTOR_PROTOCOL, COLLECTOR_READ.
 */
export async function speakToCollector(streams: CollectorStreams): Promise<Collector> {
  const waiting = new Map<number, Pending>();
  let lastId = 0;
  let failure: Error | undefined;
  let heard = Date.now();

  const fail = (error: Error): void => {
    failure ??= error;
    for (const one of waiting.values()) {
      one.wake?.();
      one.drained?.();
    }
  };
  const watch = setInterval(() => {
    const stuck = waiting.size > 0 && ![...waiting.values()].some((one) => one.drained !== undefined);
    if (!stuck) heard = Date.now();
    else if (Date.now() - heard > SILENCE_MS) fail(lostError('it has been silent for a minute'));
  }, 5000);
  watch.unref();

  const pump = async (): Promise<void> => {
    const cutter = new FrameCutter();
    for await (const chunk of streams.stdout as AsyncIterable<Buffer>) {
      heard = Date.now();
      for (const frame of cutter.push(chunk)) {
        const one = waiting.get(frame.id);
        if (one === undefined) throw protocolError('an answer to nothing');
        if (!one.abandoned) {
          one.frames.push(frame);
          one.bytes += frame.payload.length;
          one.wake?.();
        }
        if ('XSNFH!'.includes(frame.kind)) waiting.delete(frame.id);
        while (one.slow && one.bytes > WAITING_MAX && !one.abandoned && failure === undefined) {
          await new Promise<void>((resolve) => {
            one.drained = resolve;
          });
          one.drained = undefined;
        }
      }
    }
    throw lostError('it has ended');
  };
  pump().catch(fail);
  streams.stdin.on('error', (cause) => fail(lostError(cause.message)));

  async function* ask(op: string, fields: readonly Field[], slow = false): AsyncGenerator<Frame> {
    if (failure !== undefined) throw failure;
    lastId = (lastId + 1) >>> 0;
    const one: Pending = { frames: [], bytes: 0, wake: undefined, drained: undefined, abandoned: false, slow };
    waiting.set(lastId, one);
    heard = waiting.size === 1 ? Date.now() : heard;
    streams.stdin.write(encodeRequest(lastId, op, fields));
    try {
      for (;;) {
        const frame = one.frames.shift();
        if (frame !== undefined) {
          one.bytes -= frame.payload.length;
          one.drained?.();
          if (frame.kind === '!') throw readError(frame.payload.subarray(4).toString('latin1').slice(0, 200));
          yield frame;
          if ('XSNFH'.includes(frame.kind)) return;
          continue;
        }
        if (failure !== undefined) throw failure;
        await new Promise<void>((resolve) => {
          one.wake = resolve;
        });
        one.wake = undefined;
      }
    } finally {
      one.abandoned = true;
      one.frames = [];
      one.drained?.();
    }
  }

  async function askOne(op: string, fields: readonly Field[], kinds: string): Promise<Frame> {
    for await (const frame of ask(op, fields)) {
      if (!kinds.includes(frame.kind)) throw protocolError(`a frame ${frame.kind} in answer to ${op}`);
      return frame;
    }
    throw protocolError('no answer');
  }

  async function* listUpTo(root: string, below: string, max: number, recursive: boolean): AsyncGenerator<ListedEntry> {
    if (isTooLong(below)) return;
    const fields: Field[] = [{ text: root }, { u8: recursive ? 1 : 0 }, { u64: max }, { text: below }];
    for await (const frame of ask('L', fields)) {
      const payload = new PayloadReader(frame.payload);
      if (frame.kind === 'E') while (!payload.done) yield readEntry(payload);
      else checkListEnd(frame, root, max);
    }
  }

  async function listBytes(root: string, below: string, max: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    if (isTooLong(below)) return Buffer.alloc(0);
    for await (const frame of ask('L', [{ text: root }, { u8: 0 }, { u64: max }, { text: below }])) {
      if (frame.kind === 'E') parts.push(frame.payload);
      else checkListEnd(frame, root, max);
    }
    return Buffer.concat(parts);
  }

  async function* readUpTo(root: string, path: RelPath, maxBytes: number): AsyncGenerator<Buffer> {
    let bytes = 0;
    if (isTooLong(path)) throw readError('its path is too long');
    for await (const frame of ask('R', [{ text: root }, { u64: maxBytes }, { text: path }], true)) {
      if (frame.kind === 'D') {
        bytes += frame.payload.length;
        if (bytes > maxBytes) throw protocolError('more than was asked for');
        yield frame.payload;
      } else {
        const length = new PayloadReader(frame.payload).size();
        if (frame.kind === 'X' && length === bytes) return;
        if (frame.kind !== 'Z' || bytes + length > maxBytes)
          throw protocolError(`a wrong frame ${frame.kind} in a file`);
        bytes += length;
        for (let left = length; left > 0; left -= ZEROS.length) yield ZEROS.subarray(0, Math.min(left, ZEROS.length));
      }
    }
  }

  const hello = await askOne('H', [], 'H');
  const version = new PayloadReader(hello.payload).u32();
  if (version !== WIRE_VERSION) throw protocolError(`version ${version} of its protocol, not ${WIRE_VERSION}`);
  return {
    listUpTo,
    listBytes,
    readUpTo,
    list: (root, below) => listUpTo(root, below ?? '', ENTRIES_MAX, true),
    read: (root, path) => readUpTo(root, path, CONTENT_MAX),
    async stat(root, path) {
      // The walks of a base leave out what is far shorter.
      if (isTooLong(path)) return undefined;
      const frame = await askOne('S', [{ text: root }, { text: path }], 'SN');
      return frame.kind === 'N' ? undefined : readEntry(new PayloadReader(frame.payload));
    },
    async space(root) {
      const payload = new PayloadReader((await askOne('F', [{ text: root }], 'F')).payload);
      const [bytes, available, free] = [payload.size(), payload.size(), payload.size()];
      return { bytes, available, free, inodes: payload.size(), inodesFree: payload.size() };
    },
    close() {
      clearInterval(watch);
      streams.stdin.end();
    },
  };
}

/** The entries of {@link Collector.listBytes}. */
export function entriesIn(bytes: Buffer): ListedEntry[] {
  const entries: ListedEntry[] = [];
  const payload = new PayloadReader(bytes);
  while (!payload.done) entries.push(readEntry(payload));
  return entries;
}

function checkListEnd(frame: Frame, root: string, max: number): void {
  const payload = new PayloadReader(frame.payload);
  if (frame.kind !== 'X') throw protocolError(`a frame ${frame.kind} in a list`);
  if (payload.u64() >= 0n && payload.u8() !== 1) throw tooManyError(root, max);
}

/** Whether a path is too long for a request: the collector would end. */
function isTooLong(path: string): boolean {
  return path.length * 3 >= WIRE_PATH_MAX && encodeBytes(path).length >= WIRE_PATH_MAX;
}

function readError(why: string): RunClaudeError {
  return new RunClaudeError('COLLECTOR_READ', `the collector could not read it: ${why}`);
}

function tooManyError(root: string, max: number): RunClaudeError {
  return new RunClaudeError('COLLECTOR_TOO_MANY', `more than ${max} entries in ${root}`, {
    hint: 'Look at the session with `run-claude explore`; nothing was collected from it.',
  });
}

function lostError(why: string): RunClaudeError {
  return new RunClaudeError('COLLECTOR_LOST', `the collector is lost: ${why}`, {
    hint: 'The session is kept; the next command on it collects again.',
  });
}

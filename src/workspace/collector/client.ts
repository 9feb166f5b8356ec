import { encodeBytes, type RelPath } from '../../core/text/path.ts';
import type { ListedEntry, TreeReader } from '../../core/types/collector.ts';
import { collectorRefused, tooManyEntries } from './collector-errors.ts';
import { type CollectorStreams, RequestChannel } from './request-channel.ts';
import {
  type Field,
  type Frame,
  PayloadReader,
  protocolError,
  readEntry,
  type Space,
  WIRE_PATH_MAX,
  WIRE_VERSION,
} from './wire.ts';

/** The host's view of a running collector. It answers requests in order, so many may be under way. */
export interface Collector extends TreeReader {
  /** As TreeReader.list, with its own bound and, unless recursive, one level only. */
  listUpTo(root: string, below: string, max: number, recursive: boolean): AsyncIterable<ListedEntry>;
  /** One level below a directory, in the collector's own bytes: to be compared, or read by {@link entriesIn}. */
  listBytes(root: string, below: string, max: number): Promise<Buffer>;
  /** As TreeReader.read, refusing files of more than `maxBytes`. */
  readUpTo(root: string, path: RelPath, maxBytes: number): AsyncIterable<Buffer>;
  /** One entry without following links; undefined when there is none. */
  stat(root: string, path: RelPath): Promise<ListedEntry | undefined>;
  /** Space of the file system that holds a root. */
  space(root: string): Promise<Space>;
  /** Ends every request, also later ones, with this error. */
  interrupt(reason: Error): void;
  /** Closes the collector's input, so that it ends. */
  close(): void;
}

const MAX_ENTRIES = 4_000_000;
const MAX_CONTENT_BYTES = 2 ** 31;
/** Holes are given as zeros in pieces of this size. */
const ZEROS = Buffer.alloc(1 << 20);

/**
 * A collector that is reached over its stdio, once it has named the version of the protocol that this client knows.
 *
 * @throws {RunClaudeError} here and from every request: COLLECTOR_LOST when it ends or is silent for a minute,
 * COLLECTOR_PROTOCOL, COLLECTOR_READ
 */
export async function speakToCollector(streams: CollectorStreams): Promise<Collector> {
  const channel = new RequestChannel(streams);
  const hello = await channel.requestOne('H', [], 'H');
  const version = new PayloadReader(hello.payload).u32();
  if (version !== WIRE_VERSION) throw protocolError(`version ${version} of its protocol, not ${WIRE_VERSION}`);
  return {
    list: (root, below) => listEntries(channel, root, below ?? '', { max: MAX_ENTRIES, recursive: true }),
    listUpTo: (root, below, max, recursive) => listEntries(channel, root, below, { max, recursive }),
    listBytes: (root, below, max) => listBytes(channel, root, below, max),
    read: (root, path) => readContent(channel, root, path, MAX_CONTENT_BYTES),
    readUpTo: (root, path, maxBytes) => readContent(channel, root, path, maxBytes),
    stat: (root, path) => statEntry(channel, root, path),
    space: (root) => readSpace(channel, root),
    interrupt: (reason) => channel.interrupt(reason),
    close: () => channel.close(),
  };
}

/** The entries of {@link Collector.listBytes}. */
export function entriesIn(bytes: Buffer): ListedEntry[] {
  const entries: ListedEntry[] = [];
  const payload = new PayloadReader(bytes);
  while (!payload.done) entries.push(readEntry(payload));
  return entries;
}

async function* listEntries(
  channel: RequestChannel,
  root: string,
  below: string,
  { max, recursive }: { readonly max: number; readonly recursive: boolean },
): AsyncGenerator<ListedEntry> {
  if (isTooLong(below)) return;
  const fields: Field[] = [{ text: root }, { u8: recursive ? 1 : 0 }, { u64: max }, { text: below }];
  let count = 0;
  for await (const frame of channel.request('L', fields)) {
    if (frame.kind !== 'E') {
      checkListEnd(frame, root, max);
      continue;
    }
    for (const payload = new PayloadReader(frame.payload); !payload.done; ) {
      count += 1;
      if (count > max) throw protocolError('more entries than were asked for');
      yield readEntry(payload);
    }
  }
}

async function listBytes(channel: RequestChannel, root: string, below: string, max: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  if (isTooLong(below)) return Buffer.alloc(0);
  for await (const frame of channel.request('L', [{ text: root }, { u8: 0 }, { u64: max }, { text: below }])) {
    if (frame.kind === 'E') parts.push(frame.payload);
    else checkListEnd(frame, root, max);
  }
  return Buffer.concat(parts);
}

async function* readContent(
  channel: RequestChannel,
  root: string,
  path: RelPath,
  maxBytes: number,
): AsyncGenerator<Buffer> {
  let bytes = 0;
  if (isTooLong(path)) throw collectorRefused('its path is too long');
  for await (const frame of channel.request('R', [{ text: root }, { u64: maxBytes }, { text: path }], true)) {
    if (frame.kind === 'D') {
      bytes += frame.payload.length;
      if (bytes > maxBytes) throw protocolError('more than was asked for');
      yield frame.payload;
    } else {
      const length = new PayloadReader(frame.payload).size();
      if (frame.kind === 'X' && length === bytes) return;
      if (frame.kind !== 'Z' || bytes + length > maxBytes) throw protocolError(`a wrong frame ${frame.kind} in a file`);
      bytes += length;
      for (let left = length; left > 0; left -= ZEROS.length) yield ZEROS.subarray(0, Math.min(left, ZEROS.length));
    }
  }
}

async function statEntry(channel: RequestChannel, root: string, path: RelPath): Promise<ListedEntry | undefined> {
  // A path of this length is in no base: the walk leaves out far shorter ones.
  if (isTooLong(path)) return undefined;
  const frame = await channel.requestOne('S', [{ text: root }, { text: path }], 'SN');
  return frame.kind === 'N' ? undefined : readEntry(new PayloadReader(frame.payload));
}

async function readSpace(channel: RequestChannel, root: string): Promise<Space> {
  const payload = new PayloadReader((await channel.requestOne('F', [{ text: root }], 'F')).payload);
  const [bytes, available, free] = [payload.size(), payload.size(), payload.size()];
  return { bytes, available, free, inodes: payload.size(), inodesFree: payload.size() };
}

function checkListEnd(frame: Frame, root: string, max: number): void {
  const payload = new PayloadReader(frame.payload);
  if (frame.kind !== 'X') throw protocolError(`a frame ${frame.kind} in a list`);
  if (payload.u64() >= 0n && payload.u8() !== 1) throw tooManyEntries(root, max);
}

/** Whether a path is too long for a request: the collector would end. */
function isTooLong(path: string): boolean {
  return path.length * 3 >= WIRE_PATH_MAX && encodeBytes(path).length >= WIRE_PATH_MAX;
}

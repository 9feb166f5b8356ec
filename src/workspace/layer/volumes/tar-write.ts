import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
} from 'node:fs';
import { RunClaudeError } from '../../../core/errors.ts';
import { encodeBytes } from '../../../core/text/path.ts';
import { fsPath } from '../../scan/walk.ts';

/** One entry of a base generation to be sent; parents before children, an inode's first name before its other names. */
export interface TarItem {
  /** In the archive; '' is the root directory itself. */
  readonly path: string;
  /** On this machine. */
  readonly source: string;
  /** Another name of an inode that was sent under this path. */
  readonly link?: string;
}

const BLOCK = 512;
const PIECE = 65_536;
const CHUNK = 256 * 1024;
const NO_TAIL = Buffer.alloc(0);

/**
 * A tar in POSIX form that keeps what tar libraries for Node lose: names that are not UTF-8, times below a second,
 * holes, hard links. Extracting the holes takes GNU tar. Entries that no longer exist are left out.
 *
 * @throws {RunClaudeError} BASE_CHANGED when a file became shorter while it was read
 */
export async function* writeTar(
  items: Iterable<TarItem>,
  owner: { readonly uid: number; readonly gid: number },
): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let size = 0;
  for (const item of items) {
    for (const piece of entryOf(item, owner)) {
      held.push(piece);
      size += piece.length;
      if (size < CHUNK) continue;
      yield Buffer.concat(held);
      held = [];
      size = 0;
    }
  }
  yield Buffer.concat([...held, Buffer.alloc(BLOCK * 2)]);
}

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

function* entryOf(item: TarItem, owner: Owner): Generator<Buffer> {
  const source = fsPath(item.source);
  const stat = lstatSync(source, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined) return;
  const name = encodeBytes(item.path === '' ? './' : stat.isDirectory() ? `./${item.path}/` : `./${item.path}`);
  const common = { name, owner, mode: Number(stat.mode & 0o7777n), mtime: stat.mtimeNs };
  if (item.link !== undefined) yield header({ ...common, type: '1', size: 0, target: encodeBytes(`./${item.link}`) });
  else if (stat.isDirectory()) yield header({ ...common, type: '5', size: 0 });
  else if (stat.isSymbolicLink()) {
    yield header({ ...common, type: '2', size: 0, target: readlinkSync(source, { encoding: 'buffer' }) });
  } else if (stat.isFile()) yield* fileOf(source, common);
}

type Common = Pick<Head, 'name' | 'owner' | 'mode' | 'mtime'>;

function* fileOf(source: string | Buffer, common: Common): Generator<Buffer> {
  const fd = openSync(source, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const stat = fstatSync(fd, { bigint: true });
    const size = Number(stat.size);
    const pieces = isSparse(stat) ? dataOf(fd, size) : [{ at: 0, length: size }];
    const map = isSparse(stat) ? sparseMap(pieces) : NO_TAIL;
    const length = pieces.reduce((sum, piece) => sum + piece.length, map.length);
    yield header({ ...common, type: '0', size: length, ...(map.length === 0 ? {} : { realSize: size }) });
    if (map.length > 0) yield map;
    for (const piece of pieces) yield* read(fd, piece.at, piece.length);
    if (length % BLOCK !== 0) yield Buffer.alloc(BLOCK - (length % BLOCK));
  } finally {
    closeSync(fd);
  }
}

function isSparse(stat: BigIntStats): boolean {
  return stat.blocks * 512n + BigInt(PIECE) < stat.size;
}

interface Piece {
  readonly at: number;
  readonly length: number;
}

function* read(fd: number, from: number, length: number): Generator<Buffer> {
  for (let at = from; at < from + length; ) {
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK, from + length - at));
    const got = readSync(fd, buffer, 0, buffer.length, at);
    if (got === 0) throw new RunClaudeError('BASE_CHANGED', 'the private copy changed while it was sent');
    yield buffer.subarray(0, got);
    at += got;
  }
}

/** Where something else than zeros is, in whole pieces: Node cannot ask for the holes. */
function dataOf(fd: number, size: number): Piece[] {
  const pieces: Piece[] = [];
  const buffer = Buffer.alloc(PIECE);
  const zeros = Buffer.alloc(PIECE);
  for (let at = 0; at < size; at += PIECE) {
    const length = readSync(fd, buffer, 0, Math.min(PIECE, size - at), at);
    if (length === 0 || buffer.compare(zeros, 0, length, 0, length) === 0) continue;
    const last = pieces.at(-1);
    if (last !== undefined && last.at + last.length === at)
      pieces[pieces.length - 1] = { at: last.at, length: last.length + length };
    else pieces.push({ at, length });
  }
  // The end of the last piece is the end of the file, a hole or not.
  const last = pieces.at(-1);
  if (last === undefined || last.at + last.length < size) pieces.push({ at: size, length: 0 });
  return pieces;
}

/** GNU's sparse format 1.0: the map stands before the data, in decimal lines, filled to a block. */
function sparseMap(pieces: readonly Piece[]): Buffer {
  const text = `${[pieces.length, ...pieces.flatMap(({ at, length }) => [at, length])].join('\n')}\n`;
  const map = Buffer.alloc(Math.ceil(text.length / BLOCK) * BLOCK);
  map.write(text, 'latin1');
  return map;
}

interface Head {
  readonly name: Buffer;
  readonly type: '0' | '1' | '2' | '5';
  readonly size: number;
  readonly mode: number;
  readonly mtime: bigint;
  readonly owner: Owner;
  readonly target?: Buffer;
  /** Of a sparse file. */
  readonly realSize?: number;
}

/** The pax records that the plain header has no room for, then the plain header. */
function header(head: Head): Buffer {
  const { name, target, realSize } = head;
  const records: Buffer[] = [record('mtime', Buffer.from(decimalTime(head.mtime)))];
  if (realSize !== undefined) {
    records.push(record('GNU.sparse.major', Buffer.from('1')), record('GNU.sparse.minor', Buffer.from('0')));
    records.push(record('GNU.sparse.name', name), record('GNU.sparse.realsize', Buffer.from(String(realSize))));
  } else if (name.length > 100 || !isPlain(name)) records.push(record('path', name));
  if (target !== undefined && (target.length > 100 || !isPlain(target))) records.push(record('linkpath', target));
  if (head.size >= 8 ** 11) records.push(record('size', Buffer.from(String(head.size))));
  const extra = Buffer.concat(records);
  const padding = Buffer.alloc((BLOCK - (extra.length % BLOCK)) % BLOCK);
  return Buffer.concat([
    block({ ...head, name: Buffer.from('pax'), type: 'x', size: extra.length }),
    extra,
    padding,
    block(head),
  ]);
}

function isPlain(bytes: Buffer): boolean {
  return bytes.every((byte) => byte < 0x80);
}

/** '<length> <key>=<value>\n', its own length counted in. */
function record(key: string, value: Buffer): Buffer {
  const rest = key.length + value.length + 3;
  let length = rest + String(rest).length;
  if (String(length).length > String(rest).length) length++;
  return Buffer.concat([Buffer.from(`${length} ${key}=`), value, Buffer.from('\n')]);
}

function decimalTime(ns: bigint): string {
  const [whole, rest] = [ns / 1_000_000_000n, ns % 1_000_000_000n];
  const sign = ns < 0n ? '-' : '';
  const digits = (value: bigint): string => String(value < 0n ? -value : value);
  return `${sign}${digits(whole)}.${digits(rest).padStart(9, '0')}`;
}

function block(head: Omit<Head, 'type'> & { readonly type: Head['type'] | 'x' }): Buffer {
  const bytes = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, length: number): void => {
    bytes.write(value.toString(8).padStart(length - 1, '0'), at, 'latin1');
  };
  head.name.copy(bytes, 0, 0, 100);
  octal(head.mode, 100, 8);
  octal(Math.min(head.owner.uid, 8 ** 7 - 1), 108, 8);
  octal(Math.min(head.owner.gid, 8 ** 7 - 1), 116, 8);
  octal(Math.min(head.size, 8 ** 11 - 1), 124, 12);
  octal(Number(head.mtime < 0n ? 0n : head.mtime / 1_000_000_000n), 136, 12);
  bytes.write('        ', 148, 'latin1');
  bytes.write(head.type, 156, 'latin1');
  if (head.type !== 'x') head.target?.copy(bytes, 157, 0, 100);
  bytes.write('ustar\0', 257, 'latin1');
  bytes.write('00', 263, 'latin1');
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return bytes;
}

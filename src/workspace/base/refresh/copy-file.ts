import * as fs from 'node:fs';
import { TICK_MS, waitForTick } from '../../../core/host/files/mtime-granularity.ts';
import { spawnSync } from '../../../core/host/programs/start-program.ts';
import { settableTime } from '../../../core/store/file-time.ts';

/** A regular file to be copied; paths are bytes where they are not UTF-8. */
export interface CopyTask {
  readonly source: string | Uint8Array;
  readonly target: string | Uint8Array;
  readonly ino: number;
  readonly dev: number;
  readonly mode: number;
}

export interface CopierOptions {
  /** Of the copies; undefined: this process's user. */
  readonly owner: { readonly uid: number; readonly gid: number } | undefined;
}

/** The part of the system in use, which tests replace. */
export interface CopySystem {
  readonly platform: NodeJS.Platform;
  /** Clones a file on APFS, or copies it where the disk does not clone. False where nothing was copied. */
  cloneByProgram(from: string, to: string): boolean;
  /** Copies an open file without reading its holes. False where nothing, or not everything, was copied. */
  copySparseByProgram(from: number, to: string | Buffer): boolean;
}

/** Node's copyFile does not clone on macOS (libuv has no clonefile), cp of macOS does. */
const SYSTEM: CopySystem = {
  platform: process.platform,
  cloneByProgram: (from, to) => spawnSync('/bin/cp', ['-c', from, to], { stdio: 'ignore' }).status === 0,
  // Node has no SEEK_DATA, GNU cp does. Its input is the file that is open here.
  copySparseByProgram: (from, to) =>
    typeof to === 'string' &&
    spawnSync('/bin/cp', ['--sparse=always', '--', '/proc/self/fd/0', to], { stdio: [from, 'ignore', 'ignore'] })
      .status === 0,
};

/** Why a file was not copied as the walk saw it. */
export interface CopyOutcome {
  /** changed: to be scanned again; unreadable: left out; failed: the copy can't be written. */
  readonly what: 'changed' | 'unreadable' | 'failed';
  readonly why: string;
}

/** A source that is open, and is the file that the walk saw. */
interface OpenSource {
  readonly fd: number;
  readonly path: string | Buffer;
  readonly dev: number;
  readonly ino: number;
  readonly size: number;
  readonly isSparse: boolean;
}

const C = fs.constants;
const PIECE_BYTES = 1 << 16;
/** A sparse file that is larger would take minutes to read. */
const MAX_SPARSE_BYTES = 2 ** 36;
/** From here on the system's own copy is faster than reading and writing. */
const COPY_FILE_FROM_BYTES = 65_536;
/** From here on a clone costs less than reading and writing, although a program has to be started for it. */
const CLONE_FROM_BYTES = 16 << 20;
/** From here on reading holes costs more than starting a program. */
const SPARSE_BY_PROGRAM_FROM_BYTES = 16 << 20;
/** Removed since the walk, or replaced by a link: the next walk sees what is there now. */
const CHANGED_CODES = ['ENOENT', 'ELOOP', 'ENOTDIR'];

/**
 * Copies files one by one. A source is opened without following a link, and must be the inode that the walk saw, before
 * and after. It is read once the file system's clock has moved on from its change time.
 */
export class FileCopier {
  readonly #owner: CopierOptions['owner'];
  readonly #buffer = Buffer.alloc(1 << 20);
  readonly #zeros = Buffer.alloc(PIECE_BYTES);
  /** By device of the sources: whether it can share blocks with the tree's, as its first file showed. */
  readonly #sharesBlocks = new Map<number, boolean>();
  readonly #system: CopySystem;

  constructor({ owner }: CopierOptions, system: CopySystem = SYSTEM) {
    this.#owner = owner;
    this.#system = system;
  }

  /** Undefined when the file was copied. */
  copy(task: CopyTask): CopyOutcome | undefined {
    let from: number;
    try {
      from = fs.openSync(pathOf(task.source), C.O_RDONLY | C.O_NOFOLLOW | C.O_NONBLOCK);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
      return { what: CHANGED_CODES.includes(code) ? 'changed' : 'unreadable', why: code };
    }
    try {
      return this.#copyOpen(from, task);
    } catch (error) {
      return { what: 'failed', why: (error as Error).message };
    } finally {
      fs.closeSync(from);
    }
  }

  #copyOpen(from: number, { ino, dev, mode, source, target: targetPath }: CopyTask): CopyOutcome | undefined {
    const before = fs.fstatSync(from, { bigint: true });
    if (!before.isFile() || Number(before.ino) !== ino || Number(before.dev) !== dev) {
      return { what: 'changed', why: 'replaced' };
    }
    const size = Number(before.size);
    const isSparse = before.blocks * 512n + 65_536n < before.size;
    if (isSparse && size > MAX_SPARSE_BYTES) return { what: 'unreadable', why: `sparse, ${size} bytes` };
    waitForTick(Number(before.ctimeNs / 1000n) / 1000, TICK_MS);
    const target = pathOf(targetPath);
    const times = [settableTime(String(before.atimeNs)), settableTime(String(before.mtimeNs))] as const;
    const opened: OpenSource = { fd: from, path: pathOf(source), dev, ino, size, isSparse };
    if (this.#copiedBySystem(opened, target)) {
      // The owner before the mode, here and below: chown clears setuid bits.
      if (this.#owner !== undefined) fs.chownSync(target, this.#owner.uid, this.#owner.gid);
      fs.chmodSync(target, mode);
      fs.utimesSync(target, ...times);
    } else {
      const to = fs.openSync(target, C.O_WRONLY | C.O_CREAT | C.O_EXCL | C.O_NOFOLLOW, 0o600);
      try {
        if (isSparse) this.#copySparse(from, to, size);
        else this.#copyBytes(from, to);
        if (this.#owner !== undefined) fs.fchownSync(to, this.#owner.uid, this.#owner.gid);
        fs.fchmodSync(to, mode);
        fs.futimesSync(to, ...times);
      } finally {
        fs.closeSync(to);
      }
    }
    const after = fs.fstatSync(from, { bigint: true });
    const same = after.size === before.size && after.mtimeNs === before.mtimeNs && after.ctimeNs === before.ctimeNs;
    return same ? undefined : { what: 'changed', why: 'written to' };
  }

  /** By sharing blocks, or by copy_file_range. False where the content has to be copied by this process. */
  #copiedBySystem(source: OpenSource, target: string | Buffer): boolean {
    const { platform } = this.#system;
    if (source.size === 0) return false;
    if (platform === 'darwin') return this.#clonedByPath(source, target);
    if (platform !== 'linux') return false;
    // Of the very inode that was opened and checked.
    const opened = `/proc/self/fd/${source.fd}`;
    if (this.#cloned(opened, target, source.dev)) return true;
    if (source.isSparse) return this.#sparseByProgram(source, target);
    if (source.size <= COPY_FILE_FROM_BYTES) return false;
    fs.copyFileSync(opened, target, C.COPYFILE_EXCL);
    return true;
  }

  /**
   * By path, since a program cannot be given an open file. A copy of anything but the inode that was opened and checked is
   * removed, and its content is read from that inode. A program replaces what has the target's name, which on such a disk
   * may be another file of the tree.
   */
  #clonedByPath({ path, dev, ino, size, isSparse }: OpenSource, target: string | Buffer): boolean {
    if (size < CLONE_FROM_BYTES || isSparse || typeof path !== 'string' || typeof target !== 'string') return false;
    if (fs.lstatSync(target, { throwIfNoEntry: false }) !== undefined) return false;
    const isCloned = this.#system.cloneByProgram(path, target);
    const there = fs.lstatSync(path, { throwIfNoEntry: false });
    const copy = fs.lstatSync(target, { throwIfNoEntry: false });
    if (isCloned && there?.ino === ino && there.dev === dev && copy?.isFile() && copy.size === size) return true;
    fs.rmSync(target, { force: true });
    return false;
  }

  /** False also where the program wrote another size, such as of a file that was written to at the same time. */
  #sparseByProgram({ fd, size }: OpenSource, target: string | Buffer): boolean {
    if (size < SPARSE_BY_PROGRAM_FROM_BYTES) return false;
    // The program would write into a file, or through a link, that has the name.
    if (fs.lstatSync(target, { throwIfNoEntry: false }) !== undefined) return false;
    const isCopied = this.#system.copySparseByProgram(fd, target);
    const copy = fs.lstatSync(target, { throwIfNoEntry: false });
    if (isCopied && copy?.isFile() && copy.size === size) return true;
    fs.rmSync(target, { force: true });
    return false;
  }

  #cloned(opened: string, target: string | Buffer, dev: number): boolean {
    if (this.#sharesBlocks.get(dev) === false) return false;
    try {
      fs.copyFileSync(opened, target, C.COPYFILE_EXCL | C.COPYFILE_FICLONE_FORCE);
      this.#sharesBlocks.set(dev, true);
      return true;
    } catch {
      // Any other error comes again where the bytes are copied.
      if (!this.#sharesBlocks.has(dev)) this.#sharesBlocks.set(dev, false);
      return false;
    }
  }

  #copyBytes(from: number, to: number): void {
    for (let at = 0; ; ) {
      const length = fs.readSync(from, this.#buffer, 0, this.#buffer.length, at);
      if (length === 0) return;
      for (let put = 0; put < length; ) put += fs.writeSync(to, this.#buffer, put, length - put, at + put);
      at += length;
    }
  }

  /** Writes only the pieces that are not all zeros. */
  #copySparse(from: number, to: number, size: number): void {
    const [buffer, zeros] = [this.#buffer, this.#zeros];
    for (let at = 0; at < size; ) {
      const length = fs.readSync(from, buffer, 0, Math.min(buffer.length, size - at), at);
      if (length === 0) break;
      for (let piece = 0; piece < length; piece += PIECE_BYTES) {
        const end = Math.min(piece + PIECE_BYTES, length);
        if (buffer.compare(zeros, 0, end - piece, piece, end) === 0) continue;
        fs.writeSync(to, buffer, piece, end - piece, at + piece);
      }
      at += length;
    }
    fs.ftruncateSync(to, size);
  }
}

function pathOf(value: string | Uint8Array): string | Buffer {
  return typeof value === 'string' ? value : Buffer.from(value);
}

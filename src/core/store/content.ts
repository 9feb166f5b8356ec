import { createHash, randomBytes } from 'node:crypto';
import { closeSync, openSync, readFileSync, statSync } from 'node:fs';
import { type FileHandle, mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { RunClaudeError } from '../errors.ts';
import type { ContentReader, Digest } from '../types/entry.ts';
import { MANY, syncFileSystem } from './flush.ts';
import { dataRuns, isHole } from './holes.ts';
import { readOpen } from './read-open.ts';
import { makePrivateDir, syncDir } from './record.ts';
import { remedyOf } from './remedy.ts';

export interface StoredContent {
  readonly digest: Digest;
  readonly size: number;
}

/** Frozen bytes under their SHA-256; nothing in it is ever changed. */
export interface ContentStore extends ContentReader {
  /**
   * Stores what the chunks hold and gives its digest; it survives a power cut after {@link ContentStore.flush}. An
   * error of the source leaves nothing behind. Throws RunClaudeError STORE_UNWRITABLE.
   */
  put(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<StoredContent>;
  has(digest: Digest): Promise<boolean>;
  /** Forces everything to the disk: to be called before a record says that the content is there. */
  flush(): Promise<void>;
}

/**
 * Content of a store's directory, whole and re-hashed, for the pure stages that cannot wait. Throws RunClaudeError
 * CONTENT_MISSING or CONTENT_DAMAGED.
 */
export function readContentSync(dir: string, digest: Digest): Buffer {
  try {
    return checked(readFileSync(contentPath(dir, digest)), digest);
  } catch (cause) {
    throw missing(digest, cause);
  }
}

/**
 * The first and the last `length` bytes of larger content, one after the other; all of it is hashed. Throws as
 * {@link readContentSync}.
 */
export function readEndsSync(dir: string, digest: Digest, length: number): Buffer {
  const head: Buffer[] = [];
  let tail: Buffer[] = [];
  let [missingBytes, tailBytes] = [length, 0];
  for (const piece of piecesOf(dir, digest)) {
    const first = piece.subarray(0, missingBytes);
    missingBytes -= first.length;
    if (first.length > 0) head.push(first);
    tail.push(piece.subarray(first.length));
    tailBytes += piece.length - first.length;
    if (tailBytes < 2 * length) continue;
    // Only once in a while: otherwise every piece would copy the whole tail.
    tail = [Buffer.concat(tail).subarray(-length)];
    tailBytes = length;
  }
  return Buffer.concat([...head, Buffer.concat(tail).subarray(-length)]);
}

function* piecesOf(dir: string, digest: Digest): Generator<Buffer> {
  const fd = openContent(dir, digest);
  const hash = createHash('sha256');
  try {
    for (const piece of readOpen(fd)) {
      hash.update(piece);
      yield piece;
    }
  } finally {
    closeSync(fd);
  }
  if (hash.digest('hex') !== digest) throw damaged(digest);
}

function openContent(dir: string, digest: Digest): number {
  try {
    return openSync(contentPath(dir, digest), 'r');
  } catch (cause) {
    throw missing(digest, cause);
  }
}

/** Opens a store, and creates it where there is none. */
export function openContentStore(dir: string): ContentStore {
  makePrivateDir(dir);
  const written = new Set<Digest>();
  // Written or fully read by this process. Other files may be incomplete after a power cut.
  const whole = new Set<Digest>();
  const pathOf = (digest: Digest): string => contentPath(dir, digest);
  // Of thousands of them, each turn of the event loop costs more than the call.
  const has = async (digest: Digest): Promise<boolean> =>
    statSync(pathOf(digest), { throwIfNoEntry: false })?.isFile() ?? false;
  const isWhole = async (digest: Digest): Promise<boolean> => {
    if (whole.has(digest)) return true;
    if (!(await has(digest)) || !(await hashesTo(dir, digest))) return false;
    whole.add(digest);
    return true;
  };
  const place = async (digest: Digest, write: (target: string) => Promise<void>): Promise<void> => {
    const target = pathOf(digest);
    await mkdir(path.dirname(target), { recursive: true, mode: 0o700 });
    await write(target);
    written.add(digest);
    whole.add(digest);
  };
  return {
    has,
    async put(chunks) {
      const beside = path.join(dir, `.new-${randomBytes(8).toString('hex')}`);
      try {
        const { digest, size, small } = await hashInto(beside, chunks);
        if (await isWhole(digest)) {
          if (small === undefined) await rm(beside, { force: true });
          return { digest, size };
        }
        if (small !== undefined) await writeNew(beside, small);
        // Another put may have stored the same content: replacing it by an equal file changes nothing.
        await place(digest, (target) => rename(beside, target));
        return { digest, size };
      } catch (cause) {
        await rm(beside, { force: true });
        throw cause;
      }
    },
    async read(digest) {
      try {
        return checked(await readFile(pathOf(digest)), digest);
      } catch (cause) {
        throw missing(digest, cause);
      }
    },
    pieces: (digest) => ({ [Symbol.iterator]: () => piecesOf(dir, digest) }),
    async flush() {
      const files = [...written].map(pathOf);
      written.clear();
      if (files.length > MANY && (await syncFileSystem(dir))) return;
      // As many open files at a time as every system allows.
      for (let at = 0; at < files.length; at += MANY) await Promise.all(files.slice(at, at + MANY).map(syncFile));
      for (const folder of new Set(files.map((file) => path.dirname(file)))) syncDir(folder);
      syncDir(dir);
    },
  };
}

/** Content up to this size is hashed before anything is written. */
const SMALL_BYTES = 1 << 20;

function sha256(content: Uint8Array): Digest {
  return createHash('sha256').update(content).digest('hex');
}

/** Whether what is there is what its name says. */
async function hashesTo(dir: string, digest: Digest): Promise<boolean> {
  try {
    let pieces = 0;
    for (const _ of piecesOf(dir, digest)) if (++pieces % 16 === 0) await nextTurn();
    return true;
  } catch (error) {
    if (error instanceof RunClaudeError) return false;
    throw error;
  }
}

async function syncFile(file: string): Promise<void> {
  const handle = await open(file, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Hashes the chunks; what is not small is in the new file, without its long runs of zeros. */
async function hashInto(
  file: string,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<StoredContent & { readonly small: Buffer | undefined }> {
  const hash = createHash('sha256');
  let size = 0;
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  let spilled: FileHandle | undefined;
  const spill = async (last: boolean): Promise<void> => {
    const [piece, start] = [Buffer.concat(held), size - heldBytes];
    try {
      spilled ??= await open(file, 'wx', 0o600);
      for (const [from, to] of dataRuns(piece)) {
        for (let at = from; at < to; ) at += (await spilled.write(piece, at, to - at, start + at)).bytesWritten;
      }
      // It may end in zeros, which were not written.
      if (last) await spilled.truncate(size);
    } catch (cause) {
      throw unwritable(file, cause as Error);
    }
    [held, heldBytes] = [[], 0];
  };
  try {
    for await (const chunk of chunks) {
      hash.update(chunk);
      // What is small is kept whole: it is hashed before anything is written.
      if (size + chunk.length > SMALL_BYTES && isHole(chunk)) {
        await spill(false);
        size += chunk.length;
        continue;
      }
      size += chunk.length;
      held.push(chunk);
      heldBytes += chunk.length;
      if (heldBytes > SMALL_BYTES) await spill(false);
    }
    if (spilled !== undefined) await spill(true);
  } finally {
    await spilled?.close();
  }
  return { digest: hash.digest('hex'), size, small: spilled === undefined ? Buffer.concat(held) : undefined };
}

async function writeNew(file: string, content: Uint8Array): Promise<void> {
  try {
    await writeFile(file, content, { flag: 'wx', mode: 0o600 });
  } catch (cause) {
    throw unwritable(file, cause as Error);
  }
}

function unwritable(file: string, cause: Error): RunClaudeError {
  return new RunClaudeError('STORE_UNWRITABLE', `cannot write the session's store (${file}): ${cause.message}`, {
    cause,
    hint: `The session is kept as it is. ${remedyOf(cause) ?? '`run-claude doctor` looks at that disk.'}`,
  });
}

function contentPath(dir: string, digest: Digest): string {
  if (!/^[0-9a-f]{64}$/.test(digest)) throw new RunClaudeError('CONTENT_MISSING', `not a digest: ${digest}`);
  return path.join(dir, digest.slice(0, 2), digest);
}

function checked(content: Buffer, digest: Digest): Buffer {
  if (sha256(content) === digest) return content;
  throw damaged(digest);
}

function damaged(digest: Digest): RunClaudeError {
  return new RunClaudeError('CONTENT_DAMAGED', `the session's store was changed: ${digest} is not what was frozen`, {
    hint: 'Nothing of it was used. Look at the disk, then discard the session or collect it again.',
  });
}

/** CONTENT_MISSING for ENOENT; any other error as it is. */
function missing(digest: Digest, cause: unknown): unknown {
  if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') return cause;
  return new RunClaudeError('CONTENT_MISSING', `the session's store has no content ${digest}`, { cause });
}

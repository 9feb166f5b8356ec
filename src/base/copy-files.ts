import * as fs from 'node:fs';
import { TICK_MS, waitForTick } from '../host/mtime-granularity.ts';
import { startTextWorker } from '../host/text-worker.ts';
import { fsPath } from '../scan/walk.ts';

/** One regular file to be copied. */
export interface CopyJob {
  /** In the tree. */
  readonly path: string;
  /** On the host. */
  readonly source: string;
  readonly ino: number;
  readonly dev: number;
  readonly mode: number;
  /** In bytes, as the walk saw it. */
  readonly size: number;
}

export interface CopyOptions {
  /** The directory that `path` of each job is below. */
  readonly tree: string;
  /** Inside the container; undefined: as made. */
  readonly owner: { readonly uid: number; readonly gid: number } | undefined;
  progress(done: number): void;
  readonly signal: AbortSignal | undefined;
}

/** What became of a job that was not copied as it was seen. */
export interface CopyFailure {
  readonly path: string;
  /** changed: to be looked at again; unreadable: left out; failed: the copy can't be written. */
  readonly what: 'changed' | 'unreadable' | 'failed';
  readonly why: string;
}

/** A job as the copier gets it: paths are bytes where they are not UTF-8. */
interface Task {
  readonly source: string | Uint8Array;
  readonly target: string | Uint8Array;
  readonly ino: number;
  readonly dev: number;
  readonly mode: number;
}

/** What every copier is told. */
interface Told {
  readonly owner: CopyOptions['owner'];
  readonly tickMs: number;
}

type Outcome = Omit<CopyFailure, 'path'>;
type Copier = (task: Task) => Outcome | undefined;

const WORKERS = 4;
/** What a worker is given at once. */
const BATCH: Limit = { files: 100, bytes: 64 << 20 };
/** What this thread copies itself: starting workers costs more, and others wait no longer than for a few small copies. */
const INLINE: Limit = { files: 200, bytes: 8 << 20 };
/** A worker holds one batch; with Node's own limits four of them take a quarter of what the command may. */
const HEAP = { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 64 };

interface Limit {
  readonly files: number;
  readonly bytes: number;
}

/**
 * Copies the files by several workers: bytes (reflink where the disk has it), holes, mode, owner, times. A job is taken
 * when a worker is free: of a large tree only a few are there at a time.
 */
export async function copyFiles(jobs: Iterable<CopyJob>, options: CopyOptions): Promise<readonly CopyFailure[]> {
  const { tree } = options;
  const told: Told = { owner: options.owner, tickMs: TICK_MS };
  const left = jobs[Symbol.iterator]();
  const taskOf = ({ path, source, ino, dev, mode }: CopyJob): Task => {
    return { source: fsPath(source), target: fsPath(`${tree}/${path}`), ino, dev, mode };
  };
  const first = take(left, INLINE);
  const second = left.next();
  if (second.done === true && isWithin(first, INLINE)) {
    const copyOne = makeCopier(fs, waitForTick, told);
    return first.flatMap((job) => {
      const failure = copyOne(taskOf(job));
      return failure === undefined ? [] : [{ path: job.path, ...failure }];
    });
  }
  const rest = chain(first, second, left);
  const failures: CopyFailure[] = [];
  let done = 0;
  const body = `const copyOne = (${makeCopier.toString()})(require('node:fs'), ${waitForTick.toString()}, data);
return (tasks) => tasks.map((task) => copyOne(task));`;
  const next = (): readonly CopyJob[] => {
    options.signal?.throwIfAborted();
    return take(rest, BATCH);
  };
  const work = async (): Promise<void> => {
    let batch = next();
    if (batch.length === 0) return;
    const worker = startTextWorker(body, told, HEAP);
    try {
      await new Promise<void>((resolve, reject) => {
        const give = (): void => {
          if (batch.length === 0) resolve();
          else worker.postMessage(batch.map(taskOf));
        };
        worker.on('message', (outcomes: ReadonlyArray<Outcome | undefined>) => {
          for (const [i, outcome] of outcomes.entries()) {
            if (outcome !== undefined) failures.push({ path: (batch[i] as CopyJob).path, ...outcome });
          }
          done += batch.length;
          options.progress(done);
          try {
            batch = next();
            give();
          } catch (error) {
            reject(error as Error);
          }
        });
        worker.on('error', reject);
        give();
      });
    } finally {
      await worker.terminate();
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, work));
  return failures;
}

/** So many jobs that a limit is reached or just passed. */
function take(from: Iterator<CopyJob>, { files, bytes }: Limit): CopyJob[] {
  const taken: CopyJob[] = [];
  for (let sum = 0; taken.length < files && sum < bytes; ) {
    const { done, value } = from.next();
    if (done === true) break;
    taken.push(value);
    sum += value.size;
  }
  return taken;
}

function isWithin(jobs: readonly CopyJob[], { files, bytes }: Limit): boolean {
  return jobs.length <= files && jobs.reduce((sum, { size }) => sum + size, 0) <= bytes;
}

function* chain(
  first: readonly CopyJob[],
  second: IteratorResult<CopyJob>,
  rest: Iterator<CopyJob>,
): Generator<CopyJob> {
  yield* first;
  for (let next = second; next.done !== true; next = rest.next()) yield next.value;
}

/**
 * Runs in workers too, from its own text: so it may use nothing but its arguments. A source is opened without following
 * a link and must be the inode that the walk saw, before and after. It is read when the tick of its change time is over.
 */
function makeCopier(fs: typeof import('node:fs'), wait: typeof waitForTick, { owner, tickMs }: Told): Copier {
  const { constants: C } = fs;
  const buffer = Buffer.alloc(1 << 20);
  const zeros = Buffer.alloc(1 << 16);
  const path = (value: string | Uint8Array): string | Buffer =>
    typeof value === 'string' ? value : Buffer.from(value);

  const copySparse = (from: number, to: number, size: number): void => {
    for (let at = 0; at < size; ) {
      const length = fs.readSync(from, buffer, 0, Math.min(buffer.length, size - at), at);
      if (length === 0) break;
      for (let piece = 0; piece < length; piece += zeros.length) {
        const end = Math.min(piece + zeros.length, length);
        if (buffer.compare(zeros, 0, end - piece, piece, end) !== 0)
          fs.writeSync(to, buffer, piece, end - piece, at + piece);
      }
      at += length;
    }
    fs.ftruncateSync(to, size);
  };

  /** Of each disk that sources lie on: whether it and the tree's can share blocks, as its first file told. */
  const clones = new Map<number, boolean>();
  const cloned = (from: string, target: string | Buffer, dev: number): boolean => {
    if (clones.get(dev) === false) return false;
    try {
      fs.copyFileSync(from, target, C.COPYFILE_EXCL | C.COPYFILE_FICLONE_FORCE);
      clones.set(dev, true);
      return true;
    } catch {
      // Whatever else is wrong goes wrong again where the bytes are copied.
      if (!clones.has(dev)) clones.set(dev, false);
      return false;
    }
  };
  const copied = (from: string, target: string | Buffer): boolean => {
    fs.copyFileSync(from, target, C.COPYFILE_EXCL);
    return true;
  };

  return (job) => {
    let from: number;
    try {
      from = fs.openSync(path(job.source), C.O_RDONLY | C.O_NOFOLLOW | C.O_NONBLOCK);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
      return {
        what: code === 'ENOENT' || code === 'ELOOP' || code === 'ENOTDIR' ? 'changed' : 'unreadable',
        why: code,
      };
    }
    let to: number | undefined;
    try {
      const before = fs.fstatSync(from, { bigint: true });
      if (!before.isFile() || Number(before.ino) !== job.ino || Number(before.dev) !== job.dev) {
        return { what: 'changed', why: 'replaced' };
      }
      const size = Number(before.size);
      const sparse = before.blocks * 512n + 65_536n < before.size;
      if (sparse && size > 2 ** 36) return { what: 'unreadable', why: `sparse, ${size} bytes` };
      wait(Number(before.ctimeNs / 1000n) / 1000, tickMs);
      const target = path(job.target);
      const linux = process.platform === 'linux';
      const whole = `/proc/self/fd/${from}`;
      // As store/file-time.ts does: this function is also sent to workers, by its text.
      const time = (ns: bigint): number => (Number(ns / 1000n) + 0.5) / 1e6;
      const times = [time(before.atimeNs), time(before.mtimeNs)] as const;
      // The owner before the mode: chown takes setuid bits away.
      if (
        linux &&
        size > 0 &&
        (cloned(whole, target, job.dev) || (size > 65_536 && !sparse && copied(whole, target)))
      ) {
        if (owner !== undefined) fs.chownSync(target, owner.uid, owner.gid);
        fs.chmodSync(target, job.mode);
        fs.utimesSync(target, ...times);
      } else {
        to = fs.openSync(target, C.O_WRONLY | C.O_CREAT | C.O_EXCL | C.O_NOFOLLOW, 0o600);
        if (sparse) copySparse(from, to, size);
        else
          for (let at = 0; ; ) {
            const length = fs.readSync(from, buffer, 0, buffer.length, at);
            if (length === 0) break;
            for (let put = 0; put < length; ) put += fs.writeSync(to, buffer, put, length - put, at + put);
            at += length;
          }
        if (owner !== undefined) fs.fchownSync(to, owner.uid, owner.gid);
        fs.fchmodSync(to, job.mode);
        fs.futimesSync(to, ...times);
      }
      const after = fs.fstatSync(from, { bigint: true });
      const same = after.size === before.size && after.mtimeNs === before.mtimeNs && after.ctimeNs === before.ctimeNs;
      return same ? undefined : { what: 'changed', why: 'written to' };
    } catch (error) {
      return { what: 'failed', why: (error as Error).message };
    } finally {
      fs.closeSync(from);
      if (to !== undefined) fs.closeSync(to);
    }
  };
}

import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  linkSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { RunClaudeError } from '../errors.ts';
import { processIdentity, processState } from '../host/processes/process.ts';
import { whenText } from '../text/when.ts';
import type { LockHolder } from '../types/lock-holder.ts';
import type { ProcessIdentity } from '../types/session.ts';
import { fields, oneOf, parseRecord, type RecordFormat, text } from './parse-record.ts';
import { processIdentityCheck } from './process-identity.ts';
import { makePrivateDir } from './record.ts';
import { isFullDisk } from './remedy.ts';

/** The content of a lock file. */
interface HeldLock {
  readonly version: 1;
  readonly holder: ProcessIdentity;
  /** ISO 8601. */
  readonly since: string;
  /** What the holder does: 'bringing the base up to date'. */
  readonly what: string;
  /** Random, so that no two locks are alike. */
  readonly token: string;
}

const LOCK_FORMAT: RecordFormat<HeldLock> = {
  name: 'lock',
  version: 1,
  unversioned: 0,
  migrations: { 0: (old) => ({ ...(old as object), version: 1 }) },
  check: fields<HeldLock>({
    version: oneOf(1),
    holder: processIdentityCheck,
    since: text,
    what: text,
    token: text,
  }),
  hint: 'If no run-claude is running, remove the lock file.',
};

export interface LockOptions {
  /** What the holder does with it, and for what, for the user who waits: 'applying changes to /home/u/shop'. */
  readonly what: string;
  /** How long to wait for another holder. Default 0. */
  readonly waitMs?: number;
  /** Called once when there is a holder to wait for. What it returns is disposed at the end of the wait. */
  readonly waiting?: (holder: LockHolder) => Disposable;
  readonly signal?: AbortSignal;
  /**
   * For work that frees space: on a full disk, where the lock cannot be written and nobody holds it, the work is done
   * without it. Nobody else can take the lock then either.
   */
  readonly withoutRoom?: boolean;
}

/** How long another process may take to remove a stale lock. */
const STALE_REMOVAL_MS = 5_000;

/**
 * Runs `body` while holding the lock file, which is created exclusively, so that it works on NFS homes. A lock is stale
 * only when its holder provably no longer exists.
 *
 * @throws {RunClaudeError} LOCK_HELD when another process holds it for longer than `waitMs`; LOCK_UNUSABLE when what is
 * at its path is not a file.
 */
export async function withLock<T>(file: string, options: LockOptions, body: () => Promise<T>): Promise<T> {
  const release = await takeLock(file, options).catch((error: unknown) => {
    if (options.withoutRoom !== true || !isFullDisk(error) || isLocked(file)) throw error;
    return () => undefined;
  });
  try {
    return await body();
  } finally {
    release();
  }
}

/** As {@link withLock}, for a lock that outlives one function: returns the function that releases it. */
export async function takeLock(file: string, options: LockOptions): Promise<() => void> {
  const deadline = Date.now() + (options.waitMs ?? 0);
  let wait: Disposable | undefined;
  let isAnnounced = false;
  try {
    for (;;) {
      const token = tryLock(file, options.what);
      if (token !== undefined) return () => releaseLock(file, token);
      const held = readHeld(file);
      if (held === undefined) continue;
      if (held === 'no file') throw unusable(file);
      const isStale = held !== 'unreadable' && processState(held.holder) === 'ended';
      if (isStale && removeStale(file, held)) continue;
      // Another process that removes a stale lock is done within milliseconds.
      if (Date.now() >= deadline + (isStale ? STALE_REMOVAL_MS : 0)) throw heldError(file, held);
      if (!isAnnounced && !isStale) wait = options.waiting?.(describe(held));
      isAnnounced ||= !isStale;
      await sleep(isStale ? 5 : 50, undefined, options.signal === undefined ? {} : { signal: options.signal });
    }
  } finally {
    wait?.[Symbol.dispose]();
  }
}

/** Whether a process holds the lock file, or may hold it. */
export function isLocked(file: string): boolean {
  const held = readHeld(file);
  return held !== undefined && !(isLock(held) && processState(held.holder) === 'ended');
}

/** Written to another name and linked to its own, so that no reader sees a lock without its holder. */
function tryLock(file: string, what: string): string | undefined {
  makePrivateDir(path.dirname(file));
  const token = randomBytes(8).toString('hex');
  const beside = `${file}.${token}`;
  const held: HeldLock = { version: 1, holder: processIdentity(), since: new Date().toISOString(), what, token };
  // Flushed: a power cut could leave an empty lock, whose holder nobody can check.
  try {
    writeFileSync(beside, JSON.stringify(held), { flag: 'wx', mode: 0o600, flush: true });
    linkSync(beside, file);
    return token;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    // NFS repeats a call whose answer was lost, and the second call fails on the link that the first one made.
    return statSync(beside).nlink > 1 ? token : undefined;
  } finally {
    rmSync(beside, { force: true });
  }
}

function releaseLock(file: string, token: string): void {
  const held = readHeld(file);
  if (isLock(held) && held.token === token) rmSync(file, { force: true });
}

/**
 * Removes a lock whose holder no longer exists; false while another process removes it. Only the process that creates
 * the name derived from the lock's token may remove the lock: otherwise two that find the same stale lock could remove
 * each other's fresh one. When that process was killed as well, the name it created is a stale lock in turn. Tokens are
 * never used twice, and so neither are these names.
 */
function removeStale(file: string, stale: HeldLock): boolean {
  const names: string[] = [];
  for (let current = stale; ; ) {
    const name = `${file}.over-${current.token}`;
    names.push(name);
    if (tryLock(name, 'removing a stale lock') !== undefined) break;
    const other = readHeld(name);
    if (!isLock(other) || processState(other.holder) !== 'ended') return false;
    current = other;
  }
  const now = readHeld(file);
  if (isLock(now) && now.token === stale.token) rmSync(file, { force: true });
  for (const name of names) rmSync(name, { force: true });
  return true;
}

/** What is at the path of a lock; undefined when there is nothing. */
type Found = HeldLock | 'unreadable' | 'no file' | undefined;

function isLock(found: Found): found is HeldLock {
  return typeof found === 'object';
}

/**
 * 'unreadable' also for the lock of a newer release: whether its holder still exists cannot be known. 'no file' for a
 * link, a directory or a FIFO, which no release makes: a link is not followed, and a FIFO is not waited for.
 */
function readHeld(file: string): Found {
  let json: string;
  try {
    const fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      if (!fstatSync(fd).isFile()) return 'no file';
      json = readFileSync(fd, 'utf8');
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    // ENXIO: a socket.
    if (code === 'ELOOP' || code === 'ENXIO') return 'no file';
    throw error;
  }
  try {
    return parseRecord(JSON.parse(json), LOCK_FORMAT, file);
  } catch {
    return 'unreadable';
  }
}

function describe(held: HeldLock | 'unreadable'): LockHolder {
  if (held === 'unreadable') return { name: 'an unknown process', doing: 'its lock file cannot be read' };
  const { holder, since, what } = held;
  const doing = `${what}, started ${whenText(since, Date.now())}`;
  return { name: `process ${holder.pid} on ${holder.host.split(' ')[0]}`, doing };
}

function heldError(file: string, held: HeldLock | 'unreadable'): RunClaudeError {
  const { name, doing } = describe(held);
  return new RunClaudeError('LOCK_HELD', `${file} is held by ${name} (${doing})`, {
    hint: 'Wait for that process to end. If it ran on another host and has ended, remove the lock file.',
  });
}

function unusable(file: string): RunClaudeError {
  return new RunClaudeError('LOCK_UNUSABLE', `${file} should be a lock file, but is a link, a directory or a device`, {
    hint: 'run-claude did not make it. Remove it, then run the command again.',
  });
}

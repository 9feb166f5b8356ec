import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { RunClaudeError } from '../errors.ts';
import { processIdentity, processState } from '../host/process.ts';
import type { ProcessIdentity } from '../types/session.ts';
import { makePrivateDir } from './record.ts';

interface Held {
  readonly holder: ProcessIdentity;
  readonly since: string;
  readonly what: string;
  readonly token: string;
}

export interface LockOptions {
  /** What the holder does with it, for the person who waits: 'bringing the base up to date'. */
  readonly what: string;
  /** How long to wait for another holder. Default 0. */
  readonly waitMs?: number;
  /** Called once, when it has to be waited for. */
  readonly waiting?: (who: string) => void;
  readonly signal?: AbortSignal;
}

/** How long one that is being removed by another process is waited for. */
const REMOVAL_MS = 5_000;

/**
 * Runs `body` while holding the lock file (exclusive create, so it works on NFS homes). A lock is stale only when its
 * holder is provably gone. Throws RunClaudeError LOCK_HELD naming who holds it since when.
 */
export async function withLock<T>(file: string, options: LockOptions, body: () => Promise<T>): Promise<T> {
  const release = await takeLock(file, options);
  try {
    return await body();
  } finally {
    release();
  }
}

/** As {@link withLock}, for a lock that outlives one function: gives the function that releases it. */
export async function takeLock(file: string, options: LockOptions): Promise<() => void> {
  const deadline = Date.now() + (options.waitMs ?? 0);
  let told = false;
  for (;;) {
    const token = tryLock(file, options.what);
    if (token !== undefined) return () => releaseLock(file, token);
    const held = readHeld(file);
    if (held === undefined) continue;
    const stale = held !== 'unreadable' && processState(held.holder) === 'gone';
    if (stale && removeStale(file, held)) continue;
    // Somebody else who removes a stale one is done in no time.
    if (Date.now() >= deadline + (stale ? REMOVAL_MS : 0)) throw heldError(file, held);
    if (!told && !stale) options.waiting?.(describe(held));
    told ||= !stale;
    await sleep(stale ? 5 : 50, undefined, options.signal === undefined ? {} : { signal: options.signal });
  }
}

/** Written beside and linked in place, so that a lock is never seen without its holder. */
function tryLock(file: string, what: string): string | undefined {
  makePrivateDir(path.dirname(file));
  const token = randomBytes(8).toString('hex');
  const beside = `${file}.${token}`;
  const held: Held = { holder: processIdentity(), since: new Date().toISOString(), what, token };
  // Flushed: after a power cut the lock would stand there empty, held by nobody who could be asked.
  writeFileSync(beside, JSON.stringify(held), { flag: 'wx', mode: 0o600, flush: true });
  try {
    linkSync(beside, file);
    return token;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    // NFS: a call whose answer was lost is made again, and finds what it made itself.
    return statSync(beside).nlink > 1 ? token : undefined;
  } finally {
    rmSync(beside, { force: true });
  }
}

function releaseLock(file: string, token: string): void {
  const held = readHeld(file);
  if (held !== undefined && held !== 'unreadable' && held.token === token) rmSync(file, { force: true });
}

/**
 * Removes a lock whose holder is gone; false while somebody else is at it. Only who made the name that belongs to this
 * very lock may: two who found the same stale lock would otherwise remove each other's fresh one. Where the maker of
 * that name was killed as well, it is a stale lock in its turn. Names are of tokens, and a token never comes back.
 */
function removeStale(file: string, stale: Held): boolean {
  const names: string[] = [];
  for (let gone = stale; ; ) {
    const name = `${file}.over-${gone.token}`;
    names.push(name);
    if (tryLock(name, 'removing a stale lock') !== undefined) break;
    const other = readHeld(name);
    if (other === undefined || other === 'unreadable' || processState(other.holder) !== 'gone') return false;
    gone = other;
  }
  const now = readHeld(file);
  if (now !== undefined && now !== 'unreadable' && now.token === stale.token) rmSync(file, { force: true });
  for (const name of names) rmSync(name, { force: true });
  return true;
}

function readHeld(file: string): Held | 'unreadable' | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return JSON.parse(text) as Held;
  } catch {
    return 'unreadable';
  }
}

function describe(held: Held | 'unreadable'): string {
  if (held === 'unreadable') return 'somebody unknown';
  return `process ${held.holder.pid} on ${held.holder.host.split(' ')[0]} since ${held.since} (${held.what})`;
}

function heldError(file: string, held: Held | 'unreadable'): RunClaudeError {
  return new RunClaudeError('LOCK_HELD', `${file} is held by ${describe(held)}`, {
    hint: 'Wait for it to end; if it is surely gone (another host, another container), remove the lock file.',
  });
}

import path from 'node:path';
import { RunClaudeError } from '../../core/errors.ts';
import { announceWait } from '../../core/progress/announce-wait.ts';
import { withLock } from '../../core/store/lock.ts';
import { makePrivateDir } from '../../core/store/record.ts';
import { remedyOf } from '../../core/store/remedy.ts';
import { type BaseGeneration, bringUpToDate, newestReadable, withBelow } from './base.ts';
import type { BaseOptions } from './base-options.ts';
import { dropVoidRefs, generationRefs } from './generations/generation-refs.ts';

const LOCK_WAIT_MS = 30 * 60_000;

/**
 * A generation equal to the project, with a reference of the session to it. A base that cannot be brought up to date is
 * made anew, once.
 *
 * @throws {RunClaudeError} LOCK_HELD, LOCK_UNUSABLE, BASE_UNWRITABLE, BASE_NAMES_COLLIDE, PROJECT_UNREADABLE,
 * RECORD_DAMAGED, RECORD_VERSION
 */
export async function prepareBase(options: BaseOptions): Promise<BaseGeneration> {
  const { dir, tell } = options;
  makePrivateDir(path.join(dir, 'gen'));
  const what = `bringing the private copy of ${options.project} up to date`;
  const lock = { what, waitMs: LOCK_WAIT_MS, waiting: announceWait(tell) };
  const withSignal = options.signal === undefined ? lock : { ...lock, signal: options.signal };
  return withLock(path.join(dir, 'lock'), withSignal, () => prepareLocked(options));
}

async function prepareLocked(options: BaseOptions): Promise<BaseGeneration> {
  const { dir, signal, tell } = options;
  dropVoidRefs(dir);
  const needed = new Set(generationRefs(dir).flatMap(({ generation }) => withBelow(dir, generation)));
  const newest = newestReadable(dir);
  try {
    return await bringUpToDate(options, needed, newest);
  } catch (error) {
    if (newest === undefined || signal?.aborted || !mayComeFromBase(error)) throw asUnwritable(dir, error, signal);
    tell({ kind: 'trace', text: `the base is made anew: ${(error as Error).message}` });
    tell({ kind: 'message', level: 'warning', text: 'The private copy could not be updated. Making it anew.' });
  }
  try {
    return await bringUpToDate(options, needed, undefined);
  } catch (error) {
    throw asUnwritable(dir, error, signal);
  }
}

/** What a new copy would fail on as well: a disk that is full, read-only or faulty. */
const DISK_FAILS = /^(ENOSPC|EDQUOT|EROFS|EIO)\b|^Unknown system error -(122|69)\b/;

/** Whether the base may be the cause of an error, and not the project or the disk. */
function mayComeFromBase(error: unknown): boolean {
  const { code, cause } = error as RunClaudeError;
  if (error instanceof RunClaudeError && code !== 'BASE_UNWRITABLE' && code !== 'REMOVE_FAILED') return false;
  return !DISK_FAILS.test(((cause ?? error) as Error).message);
}

/** A failed call of the system, in words for the user; any other error as it is. */
function asUnwritable(dir: string, error: unknown, signal: AbortSignal | undefined): unknown {
  const { syscall, message } = error as NodeJS.ErrnoException;
  if (error instanceof RunClaudeError || syscall === undefined || signal?.aborted) return error;
  return new RunClaudeError('BASE_UNWRITABLE', `cannot write the private copy in ${dir}: ${message}`, {
    cause: error,
    hint: remedyOf(error as Error) ?? 'The project was not touched. Check that disk with: run-claude doctor',
  });
}

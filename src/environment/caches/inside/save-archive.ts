import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, rename, rm, statfs, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import type { Archive } from '../ecosystem.ts';
import { type Digest, startDigest } from './digest.ts';
import type { FillRequest } from './request.ts';

/** How much of an archive is written between two checks of the room on the disk. */
const ROOM_CHECK_BYTES = 1024 ** 2;
const FETCH_LIMIT_MS = 10 * 60_000;
/** A registry answers some requests of many with an error that does not last. */
const ATTEMPTS = 3;
const RETRY_MS = 500;

/** Why an archive cannot be had, in words of run-claude. */
export class FetchError extends Error {
  readonly isLasting: boolean;

  constructor(why: string, isLasting: boolean) {
    super(why);
    this.isLasting = isLasting;
  }
}

/** The registry has no such file. */
export class AbsentError extends FetchError {}

/** When a request ends without an answer. */
export interface FetchLimits {
  readonly signal: AbortSignal;
  /** How long the registry may send nothing. */
  readonly stallMs: number;
}

/** The cache and its limits. */
type Place = Pick<FillRequest, 'dir' | 'reserveBytes' | 'maxArchiveBytes'>;

/**
 * Puts one archive into the cache: from the previous cache, or from the registry. It gets its name only when its bytes have
 * its hash. Returns its size in bytes.
 *
 * @throws {FetchError} also for a path that leaves the cache
 */
export async function saveArchive(
  archive: Archive,
  request: Place & Pick<FillRequest, 'previous' | 'stallMs'>,
  signal: AbortSignal,
): Promise<number> {
  return putAt(archive, request, async (scratch) => {
    const target = { scratch, request };
    return (await copyPrevious(archive, target)) ?? fetchTo(archive, target, { signal, stallMs: request.stallMs });
  });
}

/**
 * Puts bytes that run-claude made into the cache. Returns their number.
 *
 * @throws {FetchError}
 */
export async function saveBytes(archive: Archive, content: Uint8Array, request: Place): Promise<number> {
  return putAt(archive, request, async (scratch) => {
    await writeFile(scratch, content, { mode: 0o644 });
    return content.byteLength;
  });
}

/** What `write` puts into a scratch file gets the archive's name when it is complete. */
async function putAt(archive: Archive, request: Place, write: (scratch: string) => Promise<number>): Promise<number> {
  const file = join(request.dir, archive.path);
  if (!file.startsWith(`${request.dir}/`)) throw new FetchError('its name leaves the cache', true);
  await checkRoom(request);
  await mkdir(dirname(file), { recursive: true });
  const scratch = join(request.dir, `.fetch-${randomUUID()}`);
  try {
    const bytes = await write(scratch);
    await rename(scratch, file);
    return bytes;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') throw new FetchError('the disk is full', true);
    throw error;
  } finally {
    await rm(scratch, { force: true });
  }
}

/** Throws FetchError where the disk has less room than is left on it. */
async function checkRoom({ dir, reserveBytes }: Place): Promise<void> {
  const { bavail, bsize } = await statfs(dir);
  if (bavail * bsize < reserveBytes) throw new FetchError('the disk is full', true);
}

interface Target {
  readonly scratch: string;
  readonly request: Place & Pick<FillRequest, 'previous'>;
}

async function copyPrevious(archive: Archive, target: Target): Promise<number | undefined> {
  const { previous } = target.request;
  if (previous === undefined) return undefined;
  try {
    const { bytes, isNamed } = await writeHashed(createReadStream(join(previous, archive.path)), archive, target);
    return isNamed ? bytes : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function fetchTo(archive: Archive, target: Target, limits: FetchLimits): Promise<number> {
  return withRetries(limits.signal, async () => {
    const body = await openArchive(archive, limits);
    const { bytes, isNamed } = await writeHashed(body, archive, target);
    if (!isNamed) throw new FetchError('the registry sent other bytes than the lock file names', true);
    return bytes;
  });
}

/**
 * The result of a step that asks the registry, which is repeated after an error that may not last.
 *
 * @throws {FetchError}, or the error of the disk
 */
export async function withRetries<T>(signal: AbortSignal, step: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await step();
    } catch (error) {
      const isLasting = error instanceof FetchError ? error.isLasting : isOfDisk(error);
      if (isLasting || signal.aborted) throw error;
      if (attempt === ATTEMPTS)
        throw error instanceof FetchError ? error : new FetchError('the registry cannot be reached', true);
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS * attempt));
    }
  }
}

async function openArchive({ url, text }: Archive, limits: FetchLimits): Promise<AsyncIterable<Uint8Array>> {
  return text === undefined ? fetchBody(url, limits) : Readable.from([Buffer.from(text)]);
}

/**
 * The body of an answer. The gateway passes requests to the ecosystem's hosts only; a redirect is not followed.
 *
 * @throws {FetchError} for a status other than 200, and for a registry that sends nothing for too long; while the body is
 * read, also where it breaks off
 */
export async function fetchBody(
  url: string,
  { signal, stallMs }: FetchLimits,
  accept = '*/*',
): Promise<AsyncIterable<Uint8Array>> {
  const stalled = new AbortController();
  const timer = setTimeout(() => stalled.abort(), stallMs);
  const tooLate = AbortSignal.timeout(FETCH_LIMIT_MS);
  const reasonOf = (otherwise: string): FetchError => {
    if (tooLate.aborted) return new FetchError('the registry did not send it within 10 minutes', true);
    if (stalled.signal.aborted)
      return new FetchError(`the registry sent nothing for ${Math.ceil(stallMs / 1000)} s`, false);
    return new FetchError(otherwise, false);
  };
  let response: Response;
  try {
    response = await fetch(url, {
      redirect: 'manual',
      headers: { accept, 'accept-encoding': 'identity' },
      signal: AbortSignal.any([signal, stalled.signal, tooLate]),
    });
  } catch {
    clearTimeout(timer);
    throw reasonOf('the registry cannot be reached');
  }
  const { status, body } = response;
  if (status === 200 && body !== null)
    return readBody(body, timer, () => reasonOf('the registry broke off its answer'));
  clearTimeout(timer);
  await body?.cancel();
  throw refusedStatus(status);
}

/** `timer` ends the request: each piece starts it anew. */
async function* readBody(
  body: AsyncIterable<Uint8Array>,
  timer: NodeJS.Timeout,
  brokenOff: () => FetchError,
): AsyncGenerator<Uint8Array> {
  const pieces = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      timer.refresh();
      const piece = await pieces.next().catch(() => {
        throw brokenOff();
      });
      if (piece.done === true) return;
      yield piece.value;
    }
  } finally {
    clearTimeout(timer);
    // Ends the connection where the caller read enough.
    await pieces.return?.().catch(() => undefined);
  }
}

function refusedStatus(status: number): FetchError {
  if (status === 404 || status === 410) return new AbsentError(`the registry answered with status ${status}`, true);
  if (status >= 300 && status < 400)
    return new FetchError(`the registry answered with a redirect (status ${status}), which is not followed`, true);
  return new FetchError(`the registry answered with status ${status}`, status < 500 && status !== 429);
}

/** Returns how much was written, and whether the bytes have every hash of the archive. */
async function writeHashed(
  pieces: AsyncIterable<Uint8Array>,
  { hash, alsoHashes = [] }: Archive,
  { scratch, request }: Target,
): Promise<{ readonly bytes: number; readonly isNamed: boolean }> {
  const digests = [hash, ...alsoHashes].map(({ name, hex }) => ({ digest: startDigest(name), hex }));
  let bytes = 0;
  let checkedBytes = 0;
  // Sessions have the cache read-only; the mode is for what they copy out of it.
  const handle = await open(scratch, 'w', 0o644);
  try {
    for await (const piece of pieces) {
      bytes += piece.byteLength;
      if (bytes > request.maxArchiveBytes) throw new FetchError('it is larger than 2 GB', true);
      if (bytes - checkedBytes > ROOM_CHECK_BYTES) {
        checkedBytes = bytes;
        await checkRoom(request);
      }
      for (const { digest } of digests) digest.add(piece);
      await handle.write(piece);
    }
  } finally {
    await handle.close();
  }
  const ends = digests.map(({ digest, hex }) => endOf(digest) === hex);
  return { bytes, isNamed: !ends.includes(false) };
}

/** Empty, which is the hash of nothing, for bytes that cannot have one. */
function endOf(digest: Digest): string {
  try {
    return digest.end();
  } catch {
    return '';
  }
}

function isOfDisk(error: unknown): boolean {
  const { syscall } = error as NodeJS.ErrnoException;
  return syscall === 'write' || syscall === 'open' || syscall === 'rename';
}

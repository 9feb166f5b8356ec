import { fileSystemOf } from '../../../../core/host/facts.ts';
import type { Step } from '../steps/steps.ts';

/** What a journal has for each step besides the step: that it was done, and its outcome. */
const JOURNAL_BYTES_PER_STEP = 256;
/** What the record and the report of a session may grow by. */
const RECORD_BYTES = 16 * 1024;

/**
 * Why the steps cannot be done, with what they need and what is free: the disk of the project has to take all new bytes, a
 * temporary copy of the largest file and a name for each new entry, and that of the session a journal. Undefined where both
 * have room.
 */
export function missingRoom(project: string, sessionDir: string, steps: readonly Step[]): string | undefined {
  let [bytes, largest, entries] = [0, 0, 1];
  for (const { pre, post } of steps) {
    const size = post?.kind === 'file' && post.digest !== pre?.digest ? (post.size ?? 0) : 0;
    largest = Math.max(largest, size);
    bytes += post?.kind === 'file' ? Math.max(0, size - (pre?.size ?? 0)) : 0;
    if (pre === undefined && post !== undefined) entries += 1;
  }
  const journal = JSON.stringify(steps).length + steps.length * JOURNAL_BYTES_PER_STEP + RECORD_BYTES;
  return (
    missingOn(project, 'the project', { bytes: bytes + largest, entries }) ??
    missingOn(sessionDir, 'the sessions', { bytes: journal, entries: 2 })
  );
}

function missingOn(
  dir: string,
  whose: string,
  needed: { readonly bytes: number; readonly entries: number },
): string | undefined {
  const { bavail, bsize, files, ffree } = fileSystemOf(dir);
  const free = bavail * bsize;
  if (needed.bytes > free)
    return `not enough space on the disk of ${whose}: ${megabytes(needed.bytes)} needed, ${megabytes(free)} free`;
  // Some file systems count no files.
  if (files > 0 && needed.entries > ffree)
    return `not enough files on the disk of ${whose}: ${needed.entries} needed, ${ffree} free`;
  return undefined;
}

function megabytes(bytes: number): string {
  const mb = bytes / 2 ** 20;
  return `${mb < 10 ? mb.toFixed(1) : Math.ceil(mb)} MB`;
}

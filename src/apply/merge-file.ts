import { closeSync } from 'node:fs';
import { readOpen } from '../store/read-open.ts';
import { type Entry, HELD_BYTES } from '../types/entry.ts';
import type { ChosenChange } from '../types/review.ts';
import { type HostState, openHost } from './host-entry.ts';
import { mergeText } from './merge-text.ts';
import { freezeNewBytes, type NewBytes } from './new-bytes.ts';
import type { Preparing } from './prepare.ts';

/**
 * Merges a text file that both sides changed: the result is frozen, goes through the audit again and is shown before
 * it counts. Throws what reading throws.
 */
export async function mergeFile(
  one: ChosenChange,
  session: Entry,
  host: HostState,
  { request, walker }: Preparing,
): Promise<NewBytes> {
  const { path, before } = one.change;
  if (before?.digest === undefined || session.digest === undefined) {
    return { verdict: 'conflict', why: 'changed on both sides' };
  }
  if (Math.max(before.size, session.size, host.size) > HELD_BYTES) {
    return { verdict: 'conflict', why: 'too large to merge, changed on both sides' };
  }
  const mine = readWhole(walker, path);
  const merge = mergeText(await request.store.read(before.digest), mine, await request.store.read(session.digest));
  if (merge.kind === 'impossible') return { verdict: 'conflict', why: merge.why };
  if (merge.kind === 'conflict' && request.conflict !== 'markers') {
    return { verdict: 'conflict', why: 'the same lines were changed on the host' };
  }
  const made = {
    what: 'the merged file',
    before: { entry: host, content: mine },
    after: session,
    content: merge.content,
  };
  const frozen = await freezeNewBytes(one, made, request);
  if ('verdict' in frozen) return frozen;
  if (frozen.digest === host.digest) return { verdict: 'same', why: 'the host has it already' };
  const accepted = request.dryRun || (await request.acceptMerge({ path, host: mine, merged: merge.content }));
  return accepted ? frozen : { verdict: 'conflict', why: 'the merge was not accepted' };
}

function readWhole(walker: Preparing['walker'], path: string): Buffer {
  const fd = openHost(walker, path);
  try {
    return Buffer.concat([...readOpen(fd)]);
  } finally {
    closeSync(fd);
  }
}

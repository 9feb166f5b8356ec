import { closeSync } from 'node:fs';
import { readOpen } from '../../../core/store/read-open.ts';
import { MAX_IN_MEMORY_BYTES } from '../../../core/text/in-memory.ts';
import type { ConflictRule } from '../../../core/types/change/conflict.ts';
import type { Entry } from '../../../core/types/entry.ts';
import type { ChosenChange } from '../../../core/types/review.ts';
import type { Preparing } from '../apply-request.ts';
import { type HostState, openHost } from '../disk/host/host-entry.ts';
import { freezeNewBytes, type NewBytes } from '../entries/new-bytes.ts';
import { mergeText, USUAL_MARKER_LENGTH } from './merge-text.ts';

/** The frozen result of a merge, with a note for the user where it has conflict markers. */
export type MergedBytes = NewBytes & { readonly note?: string };

/** Why a text that does not merge is a conflict. */
export const SAME_LINES = 'the same lines were changed on the host';

/**
 * Merges a text file that both sides changed: the result is frozen, audited again and shown to the user before it is
 * accepted. Throws what reading throws.
 */
export async function mergeFile(
  one: ChosenChange,
  session: Entry,
  host: HostState,
  { request, walker }: Preparing,
  rule: ConflictRule = request.conflict,
): Promise<MergedBytes> {
  const { path, before } = one.change;
  if (before?.digest === undefined || session.digest === undefined) {
    return { verdict: 'conflict', why: 'changed on both sides' };
  }
  if (Math.max(before.size, session.size, host.size) > MAX_IN_MEMORY_BYTES) {
    return { verdict: 'conflict', why: 'too large to merge, changed on both sides' };
  }
  const mine = readWhole(walker, path);
  const merge = mergeText(await request.store.read(before.digest), mine, await request.store.read(session.digest));
  if (merge.kind === 'impossible') return { verdict: 'conflict', why: merge.why };
  if (merge.kind === 'conflict' && rule !== 'markers') return { verdict: 'conflict', why: SAME_LINES };
  const made = {
    what: 'the merged file',
    before: { entry: host, content: mine },
    after: session,
    content: merge.content,
  };
  const frozen = await freezeNewBytes(one, made, request);
  if ('verdict' in frozen) return frozen;
  if (frozen.digest === host.digest) return { verdict: 'same', why: 'the host has it already' };
  // The user who answered for this conflict has seen the result.
  const isAnswered = rule !== request.conflict;
  const accepted =
    request.dryRun || isAnswered || (await request.acceptMerge({ path, host: mine, merged: merge.content }));
  if (!accepted) return { verdict: 'conflict', why: 'the merge was not accepted' };
  return merge.kind === 'clean' ? frozen : { ...frozen, note: markerNote(merge.markerLength) };
}

function markerNote(length: number): string {
  if (length === USUAL_MARKER_LENGTH) return 'with conflict markers: edit it';
  return `with conflict markers of ${length} characters, because the file has lines that look like shorter ones: edit it`;
}

/** The whole content of a file on the host. Throws what reading throws. */
export function readWhole(walker: Preparing['walker'], path: string): Buffer {
  const fd = openHost(walker, path);
  try {
    return Buffer.concat([...readOpen(fd)]);
  } finally {
    closeSync(fd);
  }
}

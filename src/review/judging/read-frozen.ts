import { RunClaudeError } from '../../core/errors.ts';
import { readContentSync, readEndsSync } from '../../core/store/content.ts';
import { MAX_IN_MEMORY_BYTES } from '../../core/text/in-memory.ts';
import type { Change, Digest } from '../../core/types/entry.ts';

/** Of a large file the audit gets the beginning and the end: enough to see its format, and more than a text may have. */
const END_BYTES = MAX_IN_MEMORY_BYTES / 4;

/** Reads the content of frozen changes from a session's store; undefined for what is missing or damaged there. */
export function frozenContent(store: string, changes: readonly Change[]): (digest: Digest) => Buffer | undefined {
  const large = new Set<Digest>();
  for (const { before, after } of changes)
    for (const entry of [before, after])
      if (entry?.digest !== undefined && entry.size > MAX_IN_MEMORY_BYTES) large.add(entry.digest);
  return (digest) =>
    contentIfIntact(() =>
      large.has(digest) ? readEndsSync(store, digest, END_BYTES) : readContentSync(store, digest),
    );
}

/** Undefined for content that is missing or damaged: its change is blocked, and the others can still be applied. */
function contentIfIntact(read: () => Buffer): Buffer | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof RunClaudeError && /^CONTENT_(MISSING|DAMAGED)$/.test(error.code)) return undefined;
    throw error;
  }
}

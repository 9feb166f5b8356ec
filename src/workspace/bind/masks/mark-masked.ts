import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { markIndex } from '../../../core/git/mark-index.ts';
import { objectNameBytes } from '../tracked.ts';

/**
 * Marks the masked files in the index of a session's own repository, so that `git add -A` and `status` inside pass over
 * them. An index that cannot be marked stays as it is: commits are checked when they are imported. `gitDir`: precondition,
 * no agent has written there.
 */
export function markMasked(gitDir: string, isMasked: (path: string) => boolean): void {
  const file = path.join(gitDir, 'index');
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const marked = markIndex(bytes, (one) => (isMasked(one) ? 'empty' : undefined), objectNameBytes(gitDir));
  if (marked !== undefined) writeFileSync(file, marked);
}

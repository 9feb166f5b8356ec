import type { ContentReader, Digest } from '../types/entry.ts';
import type { Tell } from '../types/event.ts';
import type { Finding } from '../types/finding.ts';
import type { RelPath } from '../types/path.ts';
import type { Choice } from '../types/review.ts';
import type { ApplyOutcome } from '../types/session.ts';

export type ConflictRule = 'keep' | 'theirs' | 'markers' | 'file';

/** The session's frozen store: what apply writes comes from it, and pre-images go into it. */
export interface ApplyStore extends ContentReader {
  put(content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<Digest>;
}

/** The result of a clean merge: new bytes, frozen, to be shown before they are written. */
export interface Merged {
  readonly path: RelPath;
  readonly host: Buffer;
  readonly merged: Buffer;
}

export interface ApplyRequest {
  /** Real path of the project. */
  readonly project: string;
  /** Device and inode of the project when the session began, 'dev:ino'; refused when it is another directory now. */
  readonly projectIdentity?: string;
  readonly sessionDir: string;
  readonly choice: Choice;
  readonly store: ApplyStore;
  readonly conflict: ConflictRule;
  readonly dryRun: boolean;
  readonly tell: Tell;
  /** Interrupts between two paths; what is done stays done and undoable, the rest stays pending. */
  readonly signal?: AbortSignal;
  /** Findings on the new bytes of a merge or of chosen hunks: the audit again. A blocked or suspect one holds it back. */
  readonly audit: (path: RelPath, before: Buffer, after: Buffer) => readonly Finding[];
  /** Shows a merge that audits clean and asks; --yes and --auto-apply answer true. */
  readonly acceptMerge: (merge: Merged) => Promise<boolean>;
}

/**
 * Applies what was chosen to the host project as it is now: three-way, journalled, never outside the project and never
 * into a `.git`. Throws RunClaudeError APPLY_PROJECT_REPLACED and what the journal throws; failures of single paths are
 * verdicts. The outcome lists `choice.left` too.
 */
export async function applyChanges(request: ApplyRequest): Promise<ApplyOutcome> {
  const outcomes = request.choice.chosen.map(({ change }) => ({
    path: change.path,
    verdict: 'skipped' as const,
    why: 'apply is not built yet',
  }));
  return { changes: [...outcomes, ...request.choice.left], at: new Date().toISOString() };
}

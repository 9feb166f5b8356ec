import type { RelPath } from '../../text/path.ts';

/** keep: the host's version stays. file: it stays, and the session's is written next to it as NAME.session. */
export type ConflictRule = 'keep' | 'theirs' | 'markers' | 'file';

export interface Conflict {
  readonly path: RelPath;
  readonly why: string;
  /** What can be chosen here; 'keep' is always among them. */
  readonly rules: readonly ConflictRule[];
  /** Both versions, where both are files that are small enough to be shown. Throws what reading throws. */
  readonly versions?: () => Promise<{ readonly host: Buffer; readonly session: Buffer }>;
}

export interface ConflictAnswer {
  readonly rule: ConflictRule;
  /** For this conflict and for all that follow and allow it. */
  readonly forAll: boolean;
}

/** The result of a clean merge: new bytes, frozen, to be shown before they are written. */
export interface Merged {
  readonly path: RelPath;
  readonly host: Buffer;
  readonly merged: Buffer;
}

import type { RelPath } from '../../text/path.ts';
import type { Change, Entry, Rename } from '../entry.ts';

/** A withheld file or link that the session made or changed: its content may be that of a deleted file. */
export interface WithheldFile {
  readonly path: RelPath;
  readonly kind: Entry['kind'];
  readonly size: number;
  readonly target?: string;
}

/** Contents for the comparison; undefined for what cannot be read. Each is asked for once at most. */
export interface RenameReader {
  /** Of a frozen file. */
  frozen(entry: Entry): Promise<Buffer | undefined>;
  /** Digest of a withheld file. */
  digest(file: WithheldFile): Promise<string | undefined>;
  withheld(file: WithheldFile): Promise<Buffer | undefined>;
}

export interface MatchedRenames {
  readonly renames: readonly Rename[];
  /** Withheld files that were too many or too large to be compared with the deleted ones. */
  readonly uncompared: number;
}

/** Finds which created or withheld paths have the content of deleted ones. */
export type MatchRenames = (
  changes: readonly Change[],
  withheld: readonly WithheldFile[],
  reader: RenameReader,
) => Promise<MatchedRenames>;

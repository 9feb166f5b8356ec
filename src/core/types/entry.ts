import type { RelPath } from '../text/path.ts';

/** SHA-256 of content, lower-case hex. */
export type Digest = string;

export type EntryKind = 'file' | 'dir' | 'symlink' | 'fifo' | 'socket' | 'char' | 'block';

/** One thing at a path, as recorded. Never changed once made; a path that is absent has no entry. */
export interface Entry {
  readonly kind: EntryKind;
  /** Permission bits, 0o7777 at most. */
  readonly mode: number;
  /** Bytes for a file, 0 otherwise. */
  readonly size: number;
  /** Modification time in nanoseconds since the epoch, as decimal text (JSON has no 64-bit integers). */
  readonly mtimeNs: string;
  /** Of a file whose content is in the store. */
  readonly digest?: Digest;
  /** Of a symlink: its target, decoded as in path.ts. */
  readonly target?: string;
  /** Files of one tree with the same value are names of one inode. */
  readonly linkGroup?: string;
  /** Bytes really allocated, when that is much less than size (a sparse file). */
  readonly allocated?: number;
}

export type ChangeKind = 'created' | 'modified' | 'deleted' | 'mode' | 'type';

/**
 * One difference between the base and what the session left, frozen: the content of `before` and `after` files is
 * in the session's store under its digest.
 */
export interface Change {
  readonly path: RelPath;
  readonly kind: ChangeKind;
  readonly before?: Entry;
  readonly after?: Entry;
  /** Why this change cannot be read, classified or stored; such a change is always blocked. */
  readonly problem?: string;
  /** Matched by the base's ignore rules: withheld unless asked for. */
  readonly ignored?: boolean;
  /** Of an ignored entry that the session's own ignore rules no longer match: what `--include-ignored` must name. */
  readonly unignored?: string;
  /** Is in the `.git` of the project or of a nested repository: never applied, only audited. */
  readonly inGit?: boolean;
}

/** A file of a thing that the session changed in part: it left this file as it was. */
export interface LeftMember {
  readonly path: RelPath;
  /** What the copy had there; undefined where it had nothing. */
  readonly entry?: Entry;
}

/** One path that went wrong. Collected and reported; it never stops the other paths. */
export interface Problem {
  readonly path: string;
  readonly why: string;
}

/** Ignored output, summarised by directory. */
export interface WithheldGroup {
  readonly directory: string;
  /** The session's own ignore rules no longer match it: too many entries to be frozen one by one. */
  readonly unignored?: true;
  readonly entries: number;
  readonly bytes: number;
}

/** A deleted path, and the path whose content is that of the deleted one, or similar to it. */
export interface Rename {
  readonly from: RelPath;
  readonly to: RelPath;
  /** Of the bytes of the larger one, in percent; 100 for the same content. */
  readonly similarity: number;
}

/** A masked file that the session changed. The change stays in the session: only names of what is new are listed. */
export interface MaskedEdit {
  readonly path: string;
  /** Names that the file has and had not before. */
  readonly added: readonly string[];
}

/** What the collector found, frozen in the session's store. Everything after this reads only this. */
export interface Collected {
  readonly changes: readonly Change[];
  readonly problems: readonly Problem[];
  readonly withheld: readonly WithheldGroup[];
  /** Entries that the base had before the session (for the mass-deletion rule). */
  readonly baseEntries: number;
  /** Each path is named once on each side. Absent where no contents were compared: then equal digests are renames. */
  readonly renames?: readonly Rename[];
  /** Withheld files that were too many or too large to be compared with the deleted ones. */
  readonly uncompared?: number;
  /** Files that the session left as they were, of things in several files that it changed. */
  readonly leftMembers?: readonly LeftMember[];
  /** Absent where there is none. */
  readonly maskedEdits?: readonly MaskedEdit[];
}

/** Reads frozen content by digest. */
export interface ContentReader {
  /** Whole content. Throws RunClaudeError CONTENT_MISSING or CONTENT_DAMAGED (re-hashed on every read). */
  read(digest: Digest): Promise<Buffer>;
  /**
   * Content of any size, in pieces, as often as it is iterated. Throws as {@link ContentReader.read}, CONTENT_DAMAGED
   * after the last piece only: nothing may count before.
   */
  pieces(digest: Digest): Iterable<Uint8Array>;
}

import type { RelPath } from '../text/path.ts';
import type { Entry } from './entry.ts';

/** One entry as the collector tells it, straight from the kernel. */
export interface ListedEntry extends Entry {
  readonly path: RelPath;
  readonly uid: number;
  readonly gid: number;
  /** Inode and change time, decimal text. */
  readonly ino: string;
  readonly ctimeNs: string;
  readonly nlink: number;
  /** An overlay whiteout: what the base has here is deleted. */
  readonly whiteout?: boolean;
  /** An overlay opaque directory: what the base has below is hidden. */
  readonly opaque?: boolean;
  /** It could not be read or listed whole: the reason. Never taken for deleted. */
  readonly problem?: string;
}

/**
 * Reads trees that the agent may have written, through the collector container. Implemented by the workspace room;
 * handed to any room that must read what a session left (never open such an inode from host code).
 */
export interface TreeReader {
  /** Entries below a mounted root ('upper', 'base', 'home', …), parents before children, bounded. */
  list(root: string, below?: RelPath): AsyncIterable<ListedEntry>;
  /** Content of one regular file, in chunks; never follows a link; throws RunClaudeError COLLECTOR_READ otherwise. */
  read(root: string, path: RelPath): AsyncIterable<Buffer>;
}

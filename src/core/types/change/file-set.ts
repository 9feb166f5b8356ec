import type { WithheldFile } from './rename.ts';

/** One thing in several files: with some of them from the session and some from the host it is damaged. */
export interface FileSet {
  /** How messages name it: 'SQLite database'. */
  readonly what: string;
  /** What it is called: its main file, the common start of its names, or its folder; '' is the project's folder. */
  readonly thing: string;
  readonly isFolder: boolean;
  /** A program on this machine may have it open, and reads its files then. */
  readonly isDatabase: boolean;
  /** Of the paths that were asked for, in their order. */
  readonly members: readonly string[];
}

/** What the collection asks about files that are one thing. */
export interface SetMembers {
  /** The withheld files without which a thing that was changed is incomplete. */
  neededOf(changed: readonly string[], withheld: readonly WithheldFile[]): readonly string[];
  /** Paths that may be files of the same things as these. */
  possibleMembers(changed: readonly string[]): readonly string[];
}

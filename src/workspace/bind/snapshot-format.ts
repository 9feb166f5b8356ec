import type { Piece } from '../../core/store/pack.ts';
import {
  fields,
  listOf,
  number,
  oneOf,
  optional,
  pairOf,
  type RecordFormat,
  relPath,
  text,
} from '../../core/store/parse-record.ts';
import type { Digest } from '../../core/types/entry.ts';
import type { HostEntry } from './scan-project.ts';

/** The maps of a snapshot as lists. A part that is absent was not kept by the release that wrote it. */
export interface StoredMaps {
  readonly repositories: readonly string[];
  readonly digests: readonly (readonly [string, Digest])[];
  readonly targets: readonly (readonly [string, string])[];
  readonly unreadable: readonly (readonly [string, string])[];
}

/** A snapshot with all of its entries, one by one. */
export interface StoredEntries extends StoredMaps {
  readonly version: 2;
  readonly entries: readonly (readonly [string, HostEntry])[];
}

/** The list of a snapshot, which is in its pack. */
export interface PackedList extends StoredMaps {
  /** See snapshot-entries.ts. */
  readonly columns: EntryColumns;
  readonly pieces: readonly Piece[];
  readonly tracked: readonly StoredTracked[];
  readonly generation?: number | undefined;
}

/** Each entry's fields, in lists of the same length. */
export interface EntryColumns {
  readonly paths: readonly string[];
  /** A letter for each entry. */
  readonly kinds: string;
  readonly modes: readonly number[];
  readonly uids: readonly number[];
  readonly gids: readonly number[];
  readonly sizes: readonly number[];
  /** Differences from the entry before, in decimal digits. */
  readonly inos: readonly string[];
  readonly ctimes: readonly string[];
  /** Differences from the entry's own change time. */
  readonly mtimes: readonly string[];
  /** 1 where git's index says that the file is unchanged. */
  readonly unchanged: string;
}

interface StoredTracked {
  readonly top: string;
  readonly gitDir: string;
  readonly trees: readonly (readonly [string, string])[];
  readonly blobs: readonly (readonly [string, string])[];
}

/** `bind.json` next to session.json: names the list in `bind.pack`, or holds it in the form of earlier releases. */
export type StoredSnapshot = { readonly version: 2; readonly list: Piece } | StoredEntries;

const entry = fields<HostEntry>({
  kind: oneOf('file', 'dir', 'symlink', 'fifo', 'socket', 'char', 'block'),
  mode: number,
  uid: number,
  gid: number,
  size: number,
  mtimeNs: text,
  ctimeNs: text,
  ino: text,
});

const piece = fields<Piece>({ digest: text, offset: number, length: number });
const pairs = listOf(pairOf(relPath, text));
/** The project's own directory is ''. */
const anyPairs = listOf(pairOf(text, text));
const maps = {
  repositories: listOf(relPath),
  digests: pairs,
  targets: pairs,
  unreadable: anyPairs,
};

const inPack = fields<{ readonly version: 2; readonly list: Piece }>({ version: oneOf(2), list: piece });
const inRecord = fields<StoredEntries>({
  version: oneOf(2),
  // What differs is restored at these paths.
  entries: listOf(pairOf(relPath, entry)),
  ...maps,
});

const HINT =
  'Run no git in the project before you have checked its repositories, hooks and build files yourself, then discard the session.';

/** The project before a bind session, with which the command that follows a crash compares it. */
export const SNAPSHOT_FORMAT: RecordFormat<StoredSnapshot> = {
  name: 'snapshot of a project',
  version: 2,
  migrations: { 1: (old) => ({ ...(old as object), version: 2 }) },
  check: (value) => (isInPack(value) ? inPack(value) : inRecord(value)),
  hint: HINT,
};

/** The list in a pack, which has the version of the record that names it. */
export const LIST_FORMAT: RecordFormat<PackedList> = {
  name: 'snapshot of a project',
  version: 2,
  check: fields<PackedList>({
    columns: fields<EntryColumns>({
      paths: listOf(relPath),
      kinds: text,
      modes: listOf(number),
      uids: listOf(number),
      gids: listOf(number),
      sizes: listOf(number),
      inos: listOf(text),
      ctimes: listOf(text),
      mtimes: listOf(text),
      unchanged: text,
    }),
    pieces: listOf(piece),
    tracked: listOf(fields<StoredTracked>({ top: text, gitDir: text, trees: anyPairs, blobs: anyPairs })),
    generation: optional(number),
    ...maps,
  }),
  hint: HINT,
};

function isInPack(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'list' in value;
}

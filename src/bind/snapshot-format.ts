import { fields, listOf, number, oneOf, pairOf, type RecordFormat, relPath, text } from '../store/parse-record.ts';
import type { Digest } from '../types/entry.ts';
import type { HostEntry } from './scan-project.ts';

/** `bind.json` beside session.json: the maps of a snapshot as lists of pairs. */
export interface StoredSnapshot {
  readonly version: 1;
  readonly entries: readonly (readonly [string, HostEntry])[];
  readonly repositories: readonly string[];
  readonly digests: readonly (readonly [string, Digest])[];
  readonly targets: readonly (readonly [string, string])[];
  readonly unreadable: readonly (readonly [string, string])[];
}

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

/** The project before a bind session, with which the command that follows a crash compares it. */
export const SNAPSHOT_FORMAT: RecordFormat<StoredSnapshot> = {
  name: 'snapshot of a project',
  version: 1,
  check: fields<StoredSnapshot>({
    version: oneOf(1),
    // What differs is restored at these paths.
    entries: listOf(pairOf(relPath, entry)),
    repositories: listOf(relPath),
    digests: listOf(pairOf(relPath, text)),
    targets: listOf(pairOf(relPath, text)),
    // The project's own directory is ''.
    unreadable: listOf(pairOf(text, text)),
  }),
  hint: 'Run no git in the project before you have checked its repositories, hooks and build files yourself, then discard the session.',
};

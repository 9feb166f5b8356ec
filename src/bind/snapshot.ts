import path from 'node:path';
import { type ContentStore, openContentStore } from '../store/content.ts';
import { readRecordFile } from '../store/parse-record.ts';
import { writeJsonAtomic } from '../store/record.ts';
import type { Digest } from '../types/entry.ts';
import { findRepositories, isExecutablePart, repositoryOf } from './repositories.ts';
import { type HostEntry, readLink, readRegularFile, scanProject } from './scan-project.ts';
import { SNAPSHOT_FORMAT, type StoredSnapshot } from './snapshot-format.ts';

/** A project before a bind session: every entry, and the content of what could run. Stored in the session's directory. */
export interface BindSnapshot {
  readonly entries: ReadonlyMap<string, HostEntry>;
  readonly repositories: ReadonlySet<string>;
  /** SHA-256 of the files whose content was kept, by path. */
  readonly digests: ReadonlyMap<string, Digest>;
  /** Targets of links, by path. */
  readonly targets: ReadonlyMap<string, string>;
  /** Directories that could not be listed, with the reason. */
  readonly unreadable: ReadonlyMap<string, string>;
}

/** Larger files are compared by metadata; their content is not kept. */
export const MAX_KEPT_BYTES: number = 4 * 1_048_576;

export interface SnapshotOptions {
  readonly root: string;
  readonly sessionDir: string;
  /** A mount covers the project's `.git`, which is not scanned. */
  readonly isShielded: boolean;
  /** Whether the content of a path is worth keeping. */
  readonly isWatched: (path: string) => boolean;
}

/** Takes the snapshot, and writes it to the disk before it resolves, so that a crash does not lose it. */
export async function takeSnapshot(options: SnapshotOptions): Promise<BindSnapshot> {
  const { entries, unreadable } = scanProject(options.root, skipShielded(options.isShielded));
  const repositories = findRepositories(entries);
  const store = bindStore(options.sessionDir);
  const digests = new Map<string, Digest>();
  const targets = new Map<string, string>();
  for (const [name, seen] of entries) {
    const repository = repositoryOf(name, repositories);
    const keep = repository === undefined ? options.isWatched(name) : isExecutablePart(name, seen.kind, repository);
    if (!keep) continue;
    if (seen.kind === 'symlink') targets.set(name, readLink(options.root, name) ?? '');
    const bytes = seen.kind === 'file' ? readRegularFile(options.root, name, MAX_KEPT_BYTES) : undefined;
    if (bytes !== undefined) digests.set(name, (await store.put([bytes])).digest);
  }
  await store.flush();
  const snapshot: BindSnapshot = { entries, repositories, digests, targets, unreadable };
  const stored: StoredSnapshot = {
    version: 1,
    entries: [...entries],
    repositories: [...repositories],
    digests: [...digests],
    targets: [...targets],
    unreadable: [...unreadable],
  };
  writeJsonAtomic(snapshotFile(options.sessionDir), stored);
  return snapshot;
}

/**
 * The snapshot of a session, for the command that follows a crash; undefined when there is none.
 *
 * @throws {RunClaudeError} RECORD_VERSION when another release wrote it in a form that this one does not know,
 * RECORD_DAMAGED, RECORD_UNREADABLE.
 */
export function readSnapshot(sessionDir: string): BindSnapshot | undefined {
  const kept = readRecordFile(snapshotFile(sessionDir), SNAPSHOT_FORMAT);
  if (kept === undefined) return undefined;
  return {
    entries: new Map(kept.entries),
    repositories: new Set(kept.repositories),
    digests: new Map(kept.digests),
    targets: new Map(kept.targets),
    unreadable: new Map(kept.unreadable),
  };
}

/** Skips the project's own `.git` where a mount covers it. */
export function skipShielded(isShielded: boolean): (name: string) => boolean {
  return (name) => isShielded && name === '.git';
}

/** The session's content store. */
export function bindStore(sessionDir: string): ContentStore {
  return openContentStore(path.join(sessionDir, 'store'));
}

function snapshotFile(sessionDir: string): string {
  return path.join(sessionDir, 'bind.json');
}

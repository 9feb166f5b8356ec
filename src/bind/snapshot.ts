import path from 'node:path';
import { type ContentStore, openContentStore } from '../store/content.ts';
import { readJson, writeJsonAtomic } from '../store/record.ts';
import type { Digest } from '../types/entry.ts';
import { findRepositories, isExecutablePart, repositoryOf } from './repositories.ts';
import { readLink, readRegular, type Seen, walkProject } from './walk.ts';

/** A project before a bind session: every entry, and the content of what could run. Kept in the session's record. */
export interface BindSnapshot {
  readonly entries: ReadonlyMap<string, Seen>;
  readonly repositories: ReadonlySet<string>;
  /** Of files whose content was kept. */
  readonly digests: ReadonlyMap<string, Digest>;
  /** Of links. */
  readonly targets: ReadonlyMap<string, string>;
  readonly unreadable: ReadonlyMap<string, string>;
}

/** Larger files are told apart, not kept. */
export const KEPT_BYTES: number = 4 * 1_048_576;

export interface SnapshotOptions {
  readonly root: string;
  readonly sessionDir: string;
  /** `.git` of the project is a mount of its own: not to be walked. */
  readonly shielded: boolean;
  /** Whether the content of a path is worth keeping. */
  readonly watched: (path: string) => boolean;
}

/** Takes the snapshot and puts it on the disk before it resolves, so that a crash does not lose it. */
export async function takeSnapshot(options: SnapshotOptions): Promise<BindSnapshot> {
  const { entries, unreadable } = walkProject(options.root, skipShielded(options.shielded));
  const repositories = findRepositories(entries);
  const store = bindStore(options.sessionDir);
  const digests = new Map<string, Digest>();
  const targets = new Map<string, string>();
  for (const [name, seen] of entries) {
    const repository = repositoryOf(name, repositories);
    const keep = repository === undefined ? options.watched(name) : isExecutablePart(name, seen.kind, repository);
    if (!keep) continue;
    if (seen.kind === 'symlink') targets.set(name, readLink(options.root, name) ?? '');
    const bytes = seen.kind === 'file' ? readRegular(options.root, name, KEPT_BYTES) : undefined;
    if (bytes !== undefined) digests.set(name, (await store.put([bytes])).digest);
  }
  await store.flush();
  const snapshot: BindSnapshot = { entries, repositories, digests, targets, unreadable };
  writeJsonAtomic(snapshotFile(options.sessionDir), {
    version: 1,
    entries: [...entries],
    repositories: [...repositories],
    digests: [...digests],
    targets: [...targets],
    unreadable: [...unreadable],
  });
  return snapshot;
}

/** The snapshot of a session, for a later command after a crash; undefined when there is none. */
export function readSnapshot(sessionDir: string): BindSnapshot | undefined {
  const value = readJson(snapshotFile(sessionDir));
  if (typeof value !== 'object' || value === null) return undefined;
  const kept = value as {
    readonly entries: [string, Seen][];
    readonly repositories: string[];
    readonly digests: [string, Digest][];
    readonly targets: [string, string][];
    readonly unreadable: [string, string][];
  };
  return {
    entries: new Map(kept.entries),
    repositories: new Set(kept.repositories),
    digests: new Map(kept.digests),
    targets: new Map(kept.targets),
    unreadable: new Map(kept.unreadable),
  };
}

/** Leaves out the project's own `.git` where it is shielded. */
export function skipShielded(shielded: boolean): (name: string) => boolean {
  return (name) => shielded && name === '.git';
}

/** The content that a bind session keeps: the session's own store. */
export function bindStore(sessionDir: string): ContentStore {
  return openContentStore(path.join(sessionDir, 'store'));
}

function snapshotFile(sessionDir: string): string {
  return path.join(sessionDir, 'bind.json');
}

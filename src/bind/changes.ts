import { baseIgnoreRules } from '../collector/ignored.ts';
import { parseRelPath } from '../text/path.ts';
import type { ListedEntry } from '../types/collector.ts';
import type { Change, Entry, WithheldGroup } from '../types/entry.ts';
import { isSameEntry } from './compare.ts';
import { findRepositories, repositoryOf } from './repositories.ts';
import { type HostEntry, type ProjectScan, readLink, readRegularFile } from './scan-project.ts';
import { type BindSnapshot, bindStore, MAX_KEPT_BYTES } from './snapshot.ts';

/** What a bind session changed outside git repositories. */
export interface BindChanges {
  readonly changes: readonly Change[];
  /** Changes that the ignore rules from before the session match, counted by topmost folder; their content is not read. */
  readonly ignored: readonly WithheldGroup[];
}

/**
 * Every difference between the project before the session and as it is now. Content is included where the file is small
 * enough and its earlier content was kept; it is put into the session's store.
 */
export async function listBindChanges(
  root: string,
  before: BindSnapshot,
  now: ProjectScan,
  sessionDir: string,
): Promise<BindChanges> {
  const store = bindStore(sessionDir);
  const repositories = new Set([...before.repositories, ...findRepositories(now.entries)]);
  const rules = ignoreRulesOf(root, before, sessionDir);
  const groups = new Map<string, { entries: number; bytes: number }>();
  const changes: Change[] = [];
  for (const name of new Set([...before.entries.keys(), ...now.entries.keys()])) {
    const path = parseRelPath(name);
    const old = before.entries.get(name);
    const seen = now.entries.get(name);
    if (path === undefined || repositoryOf(name, repositories) !== undefined) continue;
    if (
      old !== undefined &&
      seen !== undefined &&
      (isSameEntry(old, seen) || (old.kind === 'dir' && seen.kind === 'dir'))
    ) {
      continue;
    }
    const top = await rules.top(path, (seen ?? old)?.kind === 'dir');
    if (top !== undefined) {
      const group = groups.get(top) ?? { entries: 0, bytes: 0 };
      groups.set(top, { entries: group.entries + 1, bytes: group.bytes + (seen?.size ?? 0) });
      continue;
    }
    const bytes = seen?.kind === 'file' ? readRegularFile(root, name, MAX_KEPT_BYTES) : undefined;
    const digest = bytes === undefined ? undefined : (await store.put([bytes])).digest;
    const oldDigest = before.digests.get(name);
    if (digest !== undefined && digest === oldDigest && old?.mode === seen?.mode) continue;
    const kind =
      old === undefined ? 'created' : seen === undefined ? 'deleted' : old.kind !== seen.kind ? 'type' : 'modified';
    changes.push({
      path,
      kind,
      ...(old === undefined ? {} : { before: entryOf(old, oldDigest, before.targets.get(name)) }),
      ...(seen === undefined ? {} : { after: entryOf(seen, digest, readLink(root, name)) }),
    });
  }
  await store.flush();
  const ignored = [...groups].map(([directory, { entries, bytes }]) => ({ directory, entries, bytes }));
  return { changes, ignored };
}

/** Files of the project's `.git` that decide what git ignores. */
const IGNORE_SOURCES: readonly string[] = ['.git/info/exclude', '.git/index', '.git/config'];

/** The ignore rules as they were before the session: rules that the agent wrote hide nothing. */
function ignoreRulesOf(root: string, before: BindSnapshot, sessionDir: string): ReturnType<typeof baseIgnoreRules> {
  const store = bindStore(sessionDir);
  return baseIgnoreRules({
    stat: async (_root, path) => {
      // The project's own `.git` is shielded: its content is the user's.
      const seen = before.entries.get(path);
      if (seen === undefined) {
        const own = IGNORE_SOURCES.includes(path) ? readRegularFile(root, path, MAX_KEPT_BYTES) : undefined;
        return own === undefined ? undefined : listed(path, own.length);
      }
      return seen.kind === 'file' && before.digests.has(path) ? listed(path, seen.size) : undefined;
    },
    async *readUpTo(_root, path) {
      const digest = before.digests.get(path);
      yield digest === undefined
        ? (readRegularFile(root, path, MAX_KEPT_BYTES) ?? Buffer.alloc(0))
        : await store.read(digest);
    },
  });
}

function listed(path: ListedEntry['path'], size: number): ListedEntry {
  return { path, kind: 'file', mode: 0o644, mtimeNs: '0', size, uid: 0, gid: 0, ino: '0', ctimeNs: '0', nlink: 1 };
}

function entryOf(seen: HostEntry, digest: string | undefined, target: string | undefined): Entry {
  const { kind, mode, mtimeNs } = seen;
  return {
    kind,
    mode,
    mtimeNs,
    size: kind === 'file' ? seen.size : 0,
    ...(digest === undefined ? {} : { digest }),
    ...(target === undefined ? {} : { target }),
  };
}

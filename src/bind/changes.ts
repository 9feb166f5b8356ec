import { baseIgnoreRules } from '../collector/ignored.ts';
import { parseRelPath } from '../text/path.ts';
import type { ListedEntry } from '../types/collector.ts';
import type { Change, Entry, WithheldGroup } from '../types/entry.ts';
import { same } from './compare.ts';
import { findRepositories, repositoryOf } from './repositories.ts';
import { type BindSnapshot, bindStore, KEPT_BYTES } from './snapshot.ts';
import { readLink, readRegular, type Seen, type Walked } from './walk.ts';

/** What a bind session changed outside repositories. */
export interface BindChanges {
  readonly changes: readonly Change[];
  /** What the rules of before the session ignore: counted by its topmost folder, its content not looked at. */
  readonly ignored: readonly WithheldGroup[];
}

/** Everything that differs, with the content of what is small enough and was kept. Puts content into the store. */
export async function listBindChanges(
  root: string,
  before: BindSnapshot,
  now: Walked,
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
    if (old !== undefined && seen !== undefined && (same(old, seen) || (old.kind === 'dir' && seen.kind === 'dir'))) {
      continue;
    }
    const top = await rules.top(path, (seen ?? old)?.kind === 'dir');
    if (top !== undefined) {
      const group = groups.get(top) ?? { entries: 0, bytes: 0 };
      groups.set(top, { entries: group.entries + 1, bytes: group.bytes + (seen?.size ?? 0) });
      continue;
    }
    const bytes = seen?.kind === 'file' ? readRegular(root, name, KEPT_BYTES) : undefined;
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

/** What says which files git leaves out. */
const OF_GIT: readonly string[] = ['.git/info/exclude', '.git/index', '.git/config'];

/** The ignore files as they were before the session; the agent's own hide nothing. */
function ignoreRulesOf(root: string, before: BindSnapshot, sessionDir: string): ReturnType<typeof baseIgnoreRules> {
  const store = bindStore(sessionDir);
  return baseIgnoreRules({
    stat: async (_root, path) => {
      // The project's own `.git` is shielded: what is there is the person's.
      const seen = before.entries.get(path);
      if (seen === undefined) {
        const own = OF_GIT.includes(path) ? readRegular(root, path, KEPT_BYTES) : undefined;
        return own === undefined ? undefined : listed(path, own.length);
      }
      return seen.kind === 'file' && before.digests.has(path) ? listed(path, seen.size) : undefined;
    },
    async *readUpTo(_root, path) {
      const digest = before.digests.get(path);
      yield digest === undefined ? (readRegular(root, path, KEPT_BYTES) ?? Buffer.alloc(0)) : await store.read(digest);
    },
  });
}

function listed(path: ListedEntry['path'], size: number): ListedEntry {
  return { path, kind: 'file', mode: 0o644, mtimeNs: '0', size, uid: 0, gid: 0, ino: '0', ctimeNs: '0', nlink: 1 };
}

function entryOf(seen: Seen, digest: string | undefined, target: string | undefined): Entry {
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

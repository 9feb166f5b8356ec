import { parentPath, parseRelPath, type RelPath } from '../../core/text/path.ts';
import type { ListedEntry } from '../../core/types/collector.ts';
import type { Change, Digest, Entry, WithheldGroup } from '../../core/types/entry.ts';
import { baseIgnoreRules } from '../collector/ignored.ts';
import { isSameEntry } from './compare.ts';
import { type EarlierFile, type EarlierSources, readElsewhere } from './earlier-content.ts';
import { findRepositories, repositoryOf } from './repositories.ts';
import { type HostEntry, type ProjectScan, readLink, readRegularFile } from './scan-project.ts';
import { type BindSnapshot, bindStore, MAX_KEPT_BYTES, readKept } from './snapshot.ts';

/** What a bind session changed outside git repositories. */
export interface BindChanges {
  readonly changes: readonly Change[];
  /** Changes that the ignore rules from before the session match, counted by topmost folder; their content is not read. */
  readonly ignored: readonly WithheldGroup[];
}

export interface ListChangesOptions {
  readonly root: string;
  readonly before: BindSnapshot;
  readonly now: ProjectScan;
  readonly sessionDir: string;
  readonly sources: EarlierSources;
  /** Folders of PATH in the project: what is there counts also where it is ignored. */
  readonly pathFolders: readonly string[];
  /** Whether the agent had another text in place of a file: what it is now is the user's. */
  readonly isMasked: (path: string) => boolean;
}

/** A path whose entry differs from the one before the session. */
interface Changed {
  readonly path: RelPath;
  readonly old: HostEntry | undefined;
  readonly seen: HostEntry | undefined;
}

/**
 * Every difference between the project before the session and as it is now. Content is included where the file is small
 * enough and, for the earlier content, where it can be had; it is put into the session's store.
 */
export async function listBindChanges(options: ListChangesOptions): Promise<BindChanges> {
  const { root, before, sessionDir } = options;
  const store = bindStore(sessionDir);
  const groups = new Map<string, { entries: number; bytes: number }>();
  const changed: Changed[] = [];
  const rules = ignoreRulesOf(root, before, sessionDir);
  for (const { path, old, seen } of differingEntries(options)) {
    const isInPath = options.pathFolders.includes(parentPath(path)) && (seen ?? old)?.kind !== 'dir';
    const top = isInPath ? undefined : await rules.top(path, (seen ?? old)?.kind === 'dir');
    if (top === undefined) {
      changed.push({ path, old, seen });
      continue;
    }
    const group = groups.get(top) ?? { entries: 0, bytes: 0 };
    groups.set(top, { entries: group.entries + 1, bytes: group.bytes + (seen?.size ?? 0) });
  }
  const earlier = await storeEarlier(changed, options);
  const changes: Change[] = [];
  for (const { path, old, seen } of changed) {
    const bytes = seen?.kind === 'file' ? readRegularFile(root, path, MAX_KEPT_BYTES) : undefined;
    const digest = bytes === undefined ? undefined : (await store.put([bytes])).digest;
    const oldDigest = earlier.get(path);
    if (digest !== undefined && digest === oldDigest && old?.mode === seen?.mode) continue;
    const kind =
      old === undefined ? 'created' : seen === undefined ? 'deleted' : old.kind !== seen.kind ? 'type' : 'modified';
    changes.push({
      path,
      kind,
      ...(old === undefined ? {} : { before: entryOfHost(old, oldDigest, before.targets.get(path)) }),
      ...(seen === undefined ? {} : { after: entryOfHost(seen, digest, readLink(root, path)) }),
    });
  }
  await store.flush();
  const ignored = [...groups].map(([directory, { entries, bytes }]) => ({ directory, entries, bytes }));
  return { changes, ignored };
}

/** The entries outside repositories that are not as they were. */
function* differingEntries({ before, now, isMasked }: ListChangesOptions): Generator<Changed> {
  const repositories = new Set([...before.repositories, ...findRepositories(now.entries)]);
  for (const name of new Set([...before.entries.keys(), ...now.entries.keys()])) {
    const path = parseRelPath(name);
    const old = before.entries.get(name);
    const seen = now.entries.get(name);
    if (path === undefined || isMasked(name) || repositoryOf(name, repositories) !== undefined) continue;
    const isSame =
      old !== undefined &&
      seen !== undefined &&
      (isSameEntry(old, seen) || (old.kind === 'dir' && seen.kind === 'dir'));
    if (!isSame) yield { path, old, seen };
  }
}

/** Puts the earlier content of changed files into the session's store, where it can be had. Returns its digests by path. */
async function storeEarlier(
  changed: readonly Changed[],
  { before, sessionDir, sources }: ListChangesOptions,
): Promise<ReadonlyMap<string, Digest>> {
  const store = bindStore(sessionDir);
  const digests = new Map<string, Digest>();
  const elsewhere: EarlierFile[] = [];
  for (const { path, old } of changed) {
    if (old?.kind !== 'file' || old.size > MAX_KEPT_BYTES) continue;
    const kept = await readKept(sessionDir, before, path);
    if (kept !== undefined) digests.set(path, (await store.put([kept])).digest);
    else elsewhere.push({ name: path, seen: old, isTracked: before.unchanged.has(path) });
  }
  for await (const [name, bytes] of readElsewhere(elsewhere, sources))
    digests.set(name, (await store.put([bytes])).digest);
  await store.flush();
  return digests;
}

/** Files of the project's `.git` that decide what git ignores. */
const IGNORE_SOURCES: readonly string[] = ['.git/info/exclude', '.git/index', '.git/config'];

/** The ignore rules as they were before the session: rules that the agent wrote hide nothing. */
function ignoreRulesOf(root: string, before: BindSnapshot, sessionDir: string): ReturnType<typeof baseIgnoreRules> {
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
      const kept = await readKept(sessionDir, before, path);
      yield kept ?? readRegularFile(root, path, MAX_KEPT_BYTES) ?? Buffer.alloc(0);
    },
  });
}

function listed(path: ListedEntry['path'], size: number): ListedEntry {
  return { path, kind: 'file', mode: 0o644, mtimeNs: '0', size, uid: 0, gid: 0, ino: '0', ctimeNs: '0', nlink: 1 };
}

function entryOfHost(seen: HostEntry, digest: string | undefined, target: string | undefined): Entry {
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

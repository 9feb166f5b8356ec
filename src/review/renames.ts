import type { Change, Entry } from '../types/entry.ts';

/**
 * New path → deleted path, where a created file or link has the content of a deleted one (same digest, not empty). Each
 * deleted path is used once; the same name in another folder is preferred. Applying knows no renames.
 */
export function findRenames(changes: readonly Change[]): ReadonlyMap<string, string> {
  const gone = new Map<string, string[]>();
  for (const change of changes) {
    const digest = change.kind === 'deleted' && contentOf(change.before);
    if (digest && !change.inGit) gone.set(digest, [...(gone.get(digest) ?? []), change.path]);
  }
  const found = new Map<string, string>();
  for (const change of changes) {
    const digest = change.kind === 'created' && contentOf(change.after);
    const candidates = digest && !change.inGit ? gone.get(digest) : undefined;
    if (!candidates?.length) continue;
    const name = change.path.slice(change.path.lastIndexOf('/') + 1);
    const same = candidates.findIndex((path) => path === name || path.endsWith(`/${name}`));
    const [from] = candidates.splice(Math.max(0, same), 1);
    if (from !== undefined) found.set(change.path, from);
  }
  return found;
}

function contentOf(entry: Entry | undefined): string | undefined {
  if (entry?.kind === 'symlink') return `-> ${entry.target ?? ''}`;
  return entry?.kind === 'file' && entry.size > 0 ? entry.digest : undefined;
}

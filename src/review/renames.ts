import type { Change } from '../types/entry.ts';

/**
 * New path → deleted path, where a created file has the content of a deleted one (same digest, not empty). Each
 * deleted path is used once; the same name in another folder is preferred. Display only: applying knows no renames.
 */
export function findRenames(changes: readonly Change[]): ReadonlyMap<string, string> {
  const gone = new Map<string, string[]>();
  for (const change of changes) {
    const digest =
      change.kind === 'deleted' && change.before?.kind === 'file' && change.before.size > 0 && change.before.digest;
    if (digest && !change.inGit) gone.set(digest, [...(gone.get(digest) ?? []), change.path]);
  }
  const found = new Map<string, string>();
  for (const change of changes) {
    const digest = change.kind === 'created' && change.after?.kind === 'file' && change.after.digest;
    const candidates = digest && !change.inGit ? gone.get(digest) : undefined;
    if (!candidates?.length) continue;
    const name = change.path.slice(change.path.lastIndexOf('/') + 1);
    const same = candidates.findIndex((path) => path === name || path.endsWith(`/${name}`));
    const [from] = candidates.splice(Math.max(0, same), 1);
    if (from !== undefined) found.set(change.path, from);
  }
  return found;
}

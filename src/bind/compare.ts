import { findRepositories, isExecutablePart, isRepositoryAt, repositoryOf } from './repositories.ts';
import type { BindSnapshot } from './snapshot.ts';
import type { Seen, Walked } from './walk.ts';

/** One executable part of git that is not as it was before the session. */
export interface GitTrouble {
  readonly path: string;
  /** planted: was not there. changed, removed: can be put back. lost: was there and cannot be put back by us. */
  readonly kind: 'planted' | 'changed' | 'removed' | 'lost';
  readonly why: string;
}

/** What of git is not as it was, a whole planted repository as one. Pure. */
export function compareRepositories(before: BindSnapshot, now: Walked): GitTrouble[] {
  const repositories = findRepositories(now.entries);
  const planted = new Set([...repositories].filter((path) => isPlanted(path, before, now.entries)));
  const troubles: GitTrouble[] = [...planted].map((path) => ({ path, kind: 'planted', why: 'a new git repository' }));
  for (const [path, seen] of now.entries) {
    const repository = repositoryOf(path, repositories);
    if (repository === undefined || planted.has(repository) || !isExecutablePart(path, seen.kind, repository)) continue;
    const old = before.entries.get(path);
    if (old === undefined) {
      if (seen.kind !== 'dir') troubles.push({ path, kind: 'planted', why: 'new, and git may run it' });
    } else if (!same(old, seen) && seen.kind !== 'dir') {
      if (keptBefore(path, before)) troubles.push({ path, kind: 'changed', why: 'changed, and git may run it' });
      else troubles.push({ path, kind: 'planted', why: 'git may run it, and what was there before was not kept' });
    }
  }
  if (
    (!now.entries.has('.git') || planted.has('.git')) &&
    isRepositoryAt('', now.entries) &&
    !isRepositoryAt('', before.entries)
  ) {
    // Without HEAD it is none; the other names may be the project's own.
    troubles.push({ path: 'HEAD', kind: 'planted', why: 'it makes the whole project a bare repository' });
  }
  for (const [path, old] of before.entries) {
    const repository = repositoryOf(path, before.repositories);
    if (repository === undefined || now.entries.has(path) || !isExecutablePart(path, old.kind, repository)) continue;
    if (hiddenBy(path, now.unreadable) !== undefined) continue;
    const whole = path === repository || planted.has(repository) || !now.entries.has(repository);
    if (whole ? path === repository : old.kind !== 'dir') {
      const kind = !whole && keptBefore(path, before) ? 'removed' : 'lost';
      troubles.push({ path, kind, why: whole ? 'the repository is gone or moved' : 'removed' });
    }
  }
  for (const [path, why] of now.unreadable) {
    if (!before.unreadable.has(path)) troubles.push({ path, kind: 'lost', why: `cannot be read (${why})` });
  }
  return troubles;
}

/** A repository that was not there, or whose place another kind of thing has taken. */
function isPlanted(path: string, before: BindSnapshot, now: ReadonlyMap<string, Seen>): boolean {
  const old = before.entries.get(path);
  if (old === undefined || !before.repositories.has(path)) return true;
  const seen = now.get(path);
  return seen?.kind !== old.kind || (seen.kind === 'dir' && seen.ino !== old.ino);
}

function keptBefore(path: string, before: BindSnapshot): boolean {
  return before.digests.has(path) || before.targets.has(path);
}

function hiddenBy(path: string, unreadable: ReadonlyMap<string, string>): string | undefined {
  return [...unreadable.keys()].find((dir) => dir === '' || path.startsWith(`${dir}/`));
}

/** Same content, mode and inode, as far as the kernel's own times tell. */
export function same(a: Seen, b: Seen): boolean {
  return a.kind === b.kind && a.mode === b.mode && a.size === b.size && a.ino === b.ino && a.ctimeNs === b.ctimeNs;
}

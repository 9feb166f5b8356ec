import { findRepositories, isExecutablePart, isRepositoryAt, repositoryOf } from './repositories.ts';
import type { HostEntry, ProjectScan } from './scan-project.ts';
import type { BindSnapshot } from './snapshot.ts';

/** A path in a git repository that git may execute or obey, and that is not as it was before the session. */
export interface GitDifference {
  readonly path: string;
  /** planted: did not exist. changed, removed: can be restored. lost: existed, and run-claude cannot restore it. */
  readonly kind: 'planted' | 'changed' | 'removed' | 'lost';
  readonly why: string;
}

/** The part of a snapshot that says what repositories were like. */
type RepositoriesBefore = Pick<BindSnapshot, 'entries' | 'repositories' | 'digests' | 'targets' | 'unreadable'>;

/** What differs in the project's git repositories; a planted repository is one difference. Pure. */
export function compareRepositories(before: RepositoriesBefore, now: ProjectScan): GitDifference[] {
  const repositories = findRepositories(now.entries);
  const planted = new Set([...repositories].filter((path) => isPlanted(path, before, now.entries)));
  const differences: GitDifference[] = [...planted].map((path) => ({
    path,
    kind: 'planted',
    why: 'a new git repository',
  }));
  for (const [path, seen] of now.entries) {
    const repository = repositoryOf(path, repositories);
    if (repository === undefined || planted.has(repository) || !isExecutablePart(path, seen.kind, repository)) continue;
    const old = before.entries.get(path);
    if (old === undefined) {
      if (seen.kind !== 'dir') differences.push({ path, kind: 'planted', why: 'new, and git may run it' });
    } else if (!isSameEntry(old, seen) && seen.kind !== 'dir') {
      if (isKept(path, before)) differences.push({ path, kind: 'changed', why: 'changed, and git may run it' });
      else differences.push({ path, kind: 'planted', why: 'git may run it, and what was there before was not kept' });
    }
  }
  if (
    (!now.entries.has('.git') || planted.has('.git')) &&
    isRepositoryAt('', now.entries) &&
    !isRepositoryAt('', before.entries)
  ) {
    // Without HEAD the project is not a repository; the other names may be the project's own.
    differences.push({ path: 'HEAD', kind: 'planted', why: 'it makes the whole project a bare repository' });
  }
  for (const [path, old] of before.entries) {
    const repository = repositoryOf(path, before.repositories);
    if (repository === undefined || now.entries.has(path) || !isExecutablePart(path, old.kind, repository)) continue;
    if (isBelowUnreadable(path, now.unreadable)) continue;
    const isWhole = path === repository || planted.has(repository) || !now.entries.has(repository);
    if (isWhole ? path === repository : old.kind !== 'dir') {
      const kind = !isWhole && isKept(path, before) ? 'removed' : 'lost';
      differences.push({ path, kind, why: isWhole ? 'the repository was removed or moved' : 'removed' });
    }
  }
  for (const [path, why] of now.unreadable) {
    if (!before.unreadable.has(path)) differences.push({ path, kind: 'lost', why: `cannot be read (${why})` });
  }
  return differences;
}

/** Whether a repository is new, or has another kind of entry in its place. */
function isPlanted(path: string, before: RepositoriesBefore, now: ReadonlyMap<string, HostEntry>): boolean {
  const old = before.entries.get(path);
  if (old === undefined || !before.repositories.has(path)) return true;
  const seen = now.get(path);
  return seen?.kind !== old.kind || (seen.kind === 'dir' && seen.ino !== old.ino);
}

function isKept(path: string, before: RepositoriesBefore): boolean {
  return before.digests.has(path) || before.targets.has(path);
}

function isBelowUnreadable(path: string, unreadable: ReadonlyMap<string, string>): boolean {
  return [...unreadable.keys()].some((dir) => dir === '' || path.startsWith(`${dir}/`));
}

/** Whether two entries have the same content, mode and inode, as far as the change time that the kernel sets can show. */
export function isSameEntry(a: HostEntry, b: HostEntry): boolean {
  return a.kind === b.kind && a.mode === b.mode && a.size === b.size && a.ino === b.ino && a.ctimeNs === b.ctimeNs;
}

import { foldersAbove, parentPath } from '../../core/text/path.ts';
import type { Finding } from '../../core/types/finding.ts';
import type { Review } from '../../core/types/review.ts';

/** The repositories that a session made in the project. Their git directories stay in the session. */
export interface NewRepositories {
  /** Paths of new `.git` folders, '.git' for the project's. */
  readonly gitDirs: ReadonlySet<string>;
  /** Folders that are bare repositories, with the number of entries. */
  readonly bare: ReadonlyMap<string, number>;
}

/** Finds them by what the audit says of the changes. */
export function newRepositories({ items, general }: Pick<Review, 'items' | 'general'>): NewRepositories {
  const gitDirs = new Set<string>();
  for (const { change } of items)
    if (change.inGit === true && change.kind === 'created' && change.after?.kind === 'dir' && IS_GIT.test(change.path))
      gitDirs.add(change.path);
  const bare = new Map<string, number>();
  for (const { rule, path, detail } of [...items.flatMap(({ findings }) => findings), ...general])
    if (rule === 'git-bare' && detail !== undefined && path.startsWith(`${detail}/`))
      bare.set(detail, (bare.get(detail) ?? 0) + 1);
  return { gitDirs, bare };
}

const IS_GIT = /(^|\/)\.git$/;

/** How many files next to a new `.git` can be applied. */
export function extraFolderFiles({ items }: Pick<Review, 'items'>, gitDir: string): number {
  const folder = parentPath(gitDir);
  const below = folder === '' ? '' : `${folder}/`;
  return items.filter(
    ({ change, state }) =>
      (state === 'clean' || state === 'suspect') && change.after?.kind === 'file' && change.path.startsWith(below),
  ).length;
}

/**
 * Whether a finding only says that a repository is new: all of its git directory stays in the session. What is blocked
 * for another reason, a hook for example, says more than that.
 */
export function isOfNewRepository({ rule, severity, path }: Finding, { gitDirs, bare }: NewRepositories): boolean {
  if (severity === 'blocked' && rule !== 'git-bare' && rule !== 'git-nested') return false;
  if (gitDirs.has(path)) return true;
  for (const folder of foldersAbove(path)) if (gitDirs.has(folder) || bare.has(folder)) return true;
  return false;
}

/** The findings with one for each new repository, the first that is blocked, in place of those of its parts. */
export function oncePerRepository(findings: readonly Finding[], repositories: NewRepositories): readonly Finding[] {
  const named = new Set<string>();
  return findings.filter((one) => {
    if (!isOfNewRepository(one, repositories)) return true;
    const top = [...foldersAbove(one.path), one.path]
      .sort((a, b) => a.length - b.length)
      .find((folder) => repositories.gitDirs.has(folder) || repositories.bare.has(folder));
    if (top === undefined || one.severity !== 'blocked' || named.has(top)) return false;
    named.add(top);
    return true;
  });
}

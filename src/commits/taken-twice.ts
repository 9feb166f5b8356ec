import { hostGit, hostGitSucceeds } from './host-git.ts';

/** An imported ref of a session whose commits the checked-out branch does not have yet. */
export interface ImportedRef {
  /** `refs/run-claude/ID/BRANCH`. */
  readonly ref: string;
  /** Whether `git reset REF` moves the current branch forward to it: nothing of that branch is lost. */
  readonly canMove: boolean;
}

/**
 * The commits of a session that were imported and are not part of HEAD, so that they would bring its files once more. Reads
 * refs only; empty where the project is not a repository of its own.
 */
export function unmergedImports(project: string, sessionId: string): readonly ImportedRef[] {
  if (!hostGitSucceeds(project, ['rev-parse', '--git-dir'])) return [];
  const listed = hostGit(project, ['for-each-ref', '--format=%(refname)', `refs/run-claude/${sessionId}/`]).toString();
  return listed
    .split('\n')
    .filter((ref) => ref !== '' && !isPartOfHead(project, ref))
    .map((ref) => ({ ref, canMove: isAheadOfHead(project, ref) }));
}

/** Whether HEAD has a commit already. */
export function isPartOfHead(project: string, name: string): boolean {
  return hostGitSucceeds(project, ['merge-base', '--is-ancestor', name, 'HEAD']);
}

/** Whether the current branch can be moved forward to a commit. */
export function isAheadOfHead(project: string, name: string): boolean {
  return hostGitSucceeds(project, ['merge-base', '--is-ancestor', 'HEAD', name]);
}

export interface TakenTwice {
  readonly sessionId: string;
  /** Of the commits: a branch, or a ref below refs/run-claude/. */
  readonly name: string;
  /** As {@link ImportedRef.canMove}. */
  readonly canMove: boolean;
  /** Whether an apply can be undone: what a bind session changed in place cannot. */
  readonly canUndo: boolean;
}

/**
 * How to join what a session brought as files with what it brought as commits: git does not check out or merge commits over
 * files that are there without being committed. Pure.
 */
export function joinAdvice({ sessionId, name, canMove, canUndo }: TakenTwice): string[] {
  return [
    `git does not check out or merge ${name} over the session's files, which are in your project already.`,
    ...(canMove ? [`To keep the files and move your branch to the commits: git reset ${name}`] : []),
    ...(canUndo
      ? [
          `To take the commits instead of the files: run-claude undo ${sessionId}, then git checkout or git merge ${name}`,
        ]
      : []),
  ];
}

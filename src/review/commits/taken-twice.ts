import path from 'node:path';
import { shellWord } from '../../core/text/shell-word.ts';
import { hostGit, hostGitSucceeds } from './host-git.ts';
import { currentBranch } from './move-branch.ts';
import type { Repository } from './repositories.ts';

/** Commits of a session in a repository of the user's that its checked-out branch does not have yet. */
export interface OpenCommits {
  /** Path of the repository from the project; '' for the project's own. */
  readonly repository: string;
  /** A branch, or a ref below refs/run-claude/. Not cleaned for the terminal. */
  readonly name: string;
  /** Whether `git reset NAME` moves the current branch forward to it: nothing of that branch is lost. */
  readonly canMove: boolean;
  /** The session made them on the branch that is checked out here. */
  readonly isCurrent?: boolean;
}

/**
 * The commits of a session that were imported into these repositories and are not part of HEAD, so that they would bring its
 * files once more: of each repository those that a user joins with the files. Reads refs only.
 */
export function unmergedImports(repositories: readonly Repository[], sessionId: string): readonly OpenCommits[] {
  const open = repositories.flatMap((repository) => {
    const words = ['--format=%(refname)', `refs/run-claude/${sessionId}/`];
    const listed = hostGit(repository.place, ['for-each-ref', ...words]).toString();
    return listed
      .split('\n')
      .filter((name) => name !== '' && !isPartOfHead(repository.place, name))
      .map((name) => openCommits(repository, name, name.slice(`refs/run-claude/${sessionId}/`.length)));
  });
  return onePerRepository(open);
}

/** Commits with a name in the user's repository, which the session made on `branch`. Reads refs only. */
export function openCommits({ place, path: repository }: Repository, name: string, branch: string): OpenCommits {
  const isCurrent = currentBranch(place) === `refs/heads/${branch}`;
  return { repository, name, canMove: isAheadOfHead(place, name), ...(isCurrent && { isCurrent }) };
}

/**
 * Of several branches in one repository the one that a branch of the user's moves to: that of the same name, or else the
 * first that it can move to. Pure.
 */
export function onePerRepository(open: readonly OpenCommits[]): readonly OpenCommits[] {
  const paths = [...new Set(open.map(({ repository }) => repository))];
  return paths.flatMap((path) => {
    const own = open.filter(({ repository }) => repository === path);
    const one = own.find(({ isCurrent }) => isCurrent) ?? own.find(({ canMove }) => canMove) ?? own[0];
    return one === undefined ? [] : [one];
  });
}

/** Whether HEAD has a commit already. */
export function isPartOfHead(place: string, name: string): boolean {
  return hostGitSucceeds(place, ['merge-base', '--is-ancestor', name, 'HEAD']);
}

/** Whether the current branch can be moved forward to a commit. */
export function isAheadOfHead(place: string, name: string): boolean {
  return hostGitSucceeds(place, ['merge-base', '--is-ancestor', 'HEAD', name]);
}

/** Writes commands for a user who is in a folder: git in a repository of the project. */
export type GitWords = (repository: string) => string;

/** 'git', 'git -C lib': as it works in `cwd`. Both are real paths. */
export function gitWords(project: string, cwd: string): GitWords {
  return (repository) => {
    const place = path.join(project, repository);
    if (place === cwd) return 'git';
    const from = path.relative(cwd, place);
    return `git -C ${shellWord(from.startsWith('..') ? place : from)}`;
  };
}

/** The command that merges commits of a session. Edits that are not committed yet are set aside, and are there afterwards. */
export function mergeCommand({ repository, name, canMove }: OpenCommits, git: GitWords): string {
  return `${git(repository)} merge --autostash ${canMove ? '--ff-only ' : ''}${shellWord(name)}`;
}

export interface TakenTwice {
  readonly sessionId: string;
  /** Submodules before the repositories that contain them. */
  readonly commits: readonly OpenCommits[];
  /** Whether an apply can be undone: what a bind session changed in place cannot. */
  readonly canUndo: boolean;
  readonly git: GitWords;
}

/**
 * How to join what a session brought as files with what it brought as commits: git does not check out or merge commits over
 * files that are there without being committed. Not cleaned for the terminal.
 */
export function joinAdvice({ sessionId, commits, canUndo, git }: TakenTwice): string[] {
  const undo = [`run-claude undo ${sessionId}`, ...commits.map((one) => mergeCommand(one, git))].join(' && ');
  return [
    "git does not check out or merge the commits over the session's files, which are in your project already.",
    ...commits.flatMap(({ repository, name, canMove }) => {
      const where = repository === '' ? '' : ` in ${repository}`;
      const command = `${git(repository)} reset ${shellWord(name)}`;
      return canMove ? [`To keep the files and move your branch${where} to the commits: ${command}`] : [];
    }),
    ...(canUndo ? [`To take the commits instead of the files: ${undo}`] : []),
  ];
}

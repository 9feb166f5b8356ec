import { constants, type Stats } from 'node:fs';
import type { RowKind } from './packed-directory.ts';

const { S_IFMT, S_IFREG, S_IFDIR, S_IFLNK } = constants;
/** No path in a pointer of git's is longer. */
const MAX_POINTER_BYTES = 8192;

/** Which files of a directory are git's own, and are rewritten for the copy. */
export interface GitFiles {
  readonly dotGit: boolean;
  readonly config: boolean;
  readonly refs: boolean;
  readonly worktreeConfig: boolean;
  readonly gitdir: boolean;
}

const NO_GIT: GitFiles = { dotGit: false, config: false, refs: false, worktreeConfig: false, gitdir: false };
const ONLY_POINTER: GitFiles = { ...NO_GIT, dotGit: true };

/** Those in a directory with these names; none where git's directories are like any other (`plain`). */
export function gitFilesAmong(names: readonly string[], plain: boolean): GitFiles {
  if (plain) return NO_GIT;
  if (!names.includes('HEAD')) return ONLY_POINTER;
  const isRepository = names.includes('objects') && names.includes('refs');
  const isWorktree = names.includes('commondir');
  return {
    dotGit: true,
    config: isRepository,
    refs: isRepository,
    worktreeConfig: isRepository || isWorktree,
    gitdir: isWorktree,
  };
}

/** The letter of a row's kind; undefined for a file that no copy has. */
export function rowKindOf({ mode, size }: Stats, name: string, git: GitFiles): RowKind | undefined {
  const type = mode & S_IFMT;
  if (type === S_IFDIR) return 'd';
  if (type === S_IFLNK) return 'l';
  if (type !== S_IFREG) return undefined;
  const isConfig = (git.config && name === 'config') || (git.worktreeConfig && name === 'config.worktree');
  const isPointer = (git.dotGit && name === '.git') || (git.gitdir && name === 'gitdir');
  const isRefs = git.refs && name === 'packed-refs';
  return isConfig || isRefs || (isPointer && size <= MAX_POINTER_BYTES) ? 'g' : 'f';
}

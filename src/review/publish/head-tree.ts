import path from 'node:path';
import { usageError } from '../../core/errors.ts';
import { type GitObjects, openGitObjects, type TreeEntry } from '../commits/git-objects.ts';

/** The tree that a new commit is based on. */
export interface HeadTree {
  readonly commit: string;
  /** Every entry of the repository's tree, by its path from the top. */
  readonly entries: ReadonlyMap<string, TreeEntry>;
  /** Path of the project from the top with a slash at the end; '' where it is the top. */
  readonly prefix: string;
  readonly objects: GitObjects;
}

/**
 * The commit that HEAD names, with its tree. Reads objects only.
 *
 * @throws {RunClaudeError} USAGE where the project is not in a repository with a commit.
 */
export async function readHead(project: string, env: NodeJS.ProcessEnv): Promise<HeadTree> {
  const objects = openGitObjects(project, env);
  const top = await objects.topLevel().catch(() => {
    throw usageError('--branch needs a git repository', 'Apply to the files with: run-claude apply');
  });
  const commit = await objects.commit('HEAD');
  const folder = path.relative(top, project);
  if (folder.startsWith('..')) throw usageError('the project is not in the work tree of its repository');
  const entries = new Map((await objects.tree(commit)).map((entry) => [entry.path, entry]));
  return { commit, entries, prefix: folder === '' ? '' : `${folder}/`, objects };
}

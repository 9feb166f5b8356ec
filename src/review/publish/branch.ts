import { RunClaudeError, usageError } from '../../core/errors.ts';
import { type GitArguments, runGitSync } from '../../core/host/git.ts';
import type { MadeBranch } from '../../core/types/session.ts';
import { whyRefusedName } from '../commits/branch-name.ts';

const git = (project: string, args: GitArguments): string => runGitSync(args, { cwd: project }).toString();

/**
 * Refuses a name that cannot be that of a new branch. Reads refs only.
 *
 * @throws {RunClaudeError} USAGE for a name that is not valid, BRANCH_EXISTS.
 */
export function requireNewBranch(project: string, name: string): void {
  const why = whyRefusedName(project, name);
  if (why !== undefined)
    throw usageError(`--branch: ${why}`, 'Use letters, digits and . _ / + @ -, beginning with a letter or digit.');
  const taken = branchInTheWay(project, name);
  if (taken === undefined) return;
  throw new RunClaudeError('BRANCH_EXISTS', `there is a branch ${taken} already`, {
    hint: 'Name another branch, or delete that one first.',
  });
}

/** The branch of this name, or one below or above it, with which git cannot make it. Reads refs only. */
function branchInTheWay(project: string, name: string): string | undefined {
  const parts = name.split('/');
  const above = parts.slice(1).map((_, at) => `refs/heads/${parts.slice(0, at + 1).join('/')}`);
  return git(project, ['for-each-ref', '--format=%(refname)', `refs/heads/${name}`, ...above])
    .split('\n')
    .find((ref) => ref === `refs/heads/${name}` || ref.startsWith(`refs/heads/${name}/`) || above.includes(ref))
    ?.slice('refs/heads/'.length);
}

/** This name, or the first of NAME-2, NAME-3, … of which there is no branch. Reads refs only. */
export function freeName(project: string, name: string): string {
  for (let at = 2, free = name; ; at += 1) {
    if (branchInTheWay(project, free) === undefined) return free;
    free = `${name}-${at}`;
  }
}

/** Creates the branch, unless one of that name was made in the meantime. It is not checked out. No hook runs. */
export function createBranch(project: string, name: string, commit: string, sessionId: string): void {
  git(project, ['update-ref', '-m', `run-claude: session ${sessionId}`, `refs/heads/${name}`, commit, '']);
}

/**
 * Deletes a branch that still is where it was made. One that does not exist any more counts as deleted.
 *
 * @throws {RunClaudeError} BRANCH_MOVED where it has other commits by now, BRANCH_IN_USE where it is checked out.
 */
export function deleteBranch(project: string, { name, commit }: MadeBranch): void {
  const ref = `refs/heads/${name}`;
  const [now] = git(project, ['for-each-ref', '--format=%(objectname) %(refname)', ref])
    .split('\n')
    .flatMap((line) => (line.endsWith(` ${ref}`) ? [line.slice(0, line.indexOf(' '))] : []));
  if (now === undefined) return;
  if (now !== commit) {
    throw new RunClaudeError('BRANCH_MOVED', `branch ${name} has other commits now: it is kept`, {
      hint: `Delete it yourself with: git branch -D ${name}`,
    });
  }
  const trees = git(project, ['worktree', 'list', '--porcelain', '-z']).split('\0');
  if (trees.includes(`branch ${ref}`)) {
    throw new RunClaudeError('BRANCH_IN_USE', `branch ${name} is checked out: it is kept`, {
      hint: 'Check out another branch first.',
    });
  }
  git(project, ['update-ref', '-d', ref, commit]);
}

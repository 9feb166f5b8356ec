import { shellWord } from '../../core/text/shell-word.ts';
import { whyRefusedName } from './branch-name.ts';
import { hostGit, hostGitSucceeds, refusedCommits } from './host-git.ts';
import type { ReceivedBranch } from './import-commits.ts';

/** A branch of the user's repository that can be fast-forwarded to the session's. */
export interface BranchMove {
  readonly branch: string;
  readonly ref: string;
  readonly from: string;
  readonly to: string;
  readonly commits: number;
  /** It is checked out: the index is updated with it, the work tree is not. */
  readonly checkedOut: boolean;
}

/** Why no branch of the user's is moved. isMissing: there is none of that name. isThere: it has the commits already. */
export interface NoMove {
  readonly why: string;
  readonly isMissing?: boolean;
  readonly isThere?: boolean;
}

/**
 * The move of one imported branch, or why it cannot be moved: the user's branch has other commits, is checked out in
 * another work tree, or has staged changes. Reads refs and the index only.
 */
export function planMove(project: string, { branch, commit, ref }: ReceivedBranch): BranchMove | NoMove {
  const name = `refs/heads/${branch}`;
  const listed = hostGit(project, ['for-each-ref', '--format=%(objectname) %(refname)', name]).toString().split('\n');
  const [from] = listed.flatMap((line) => (line.endsWith(` ${name}`) ? [line.slice(0, line.indexOf(' '))] : []));
  if (from === undefined) return { why: 'there is no such branch here', isMissing: true };
  if (from === commit) return { why: 'it is there already', isThere: true };
  if (!hostGitSucceeds(project, ['merge-base', '--is-ancestor', from, commit]))
    return { why: "it holds commits that the session's does not" };
  const count = hostGit(project, ['rev-list', '--count', commit, `^${from}`]);
  const places = worktreesOn(project, name);
  const checkedOut = currentBranch(project) === name;
  if (places > (checkedOut ? 1 : 0)) return { why: 'it is checked out in another work tree' };
  if (checkedOut && !hostGitSucceeds(project, ['diff-index', '--cached', '--quiet', from, '--'])) {
    return { why: 'changes are staged here' };
  }
  return { branch, ref, from, to: commit, commits: Number(count.toString()), checkedOut };
}

/**
 * Moves the branch, if it is still where it was. For a branch that is checked out the index is updated too (nothing was
 * staged), so that applied changes do not show as reverted; no file is read or written. Hooks do not run.
 */
export function moveBranch(project: string, { branch, from, to, ref, checkedOut }: BranchMove): void {
  hostGit(project, ['update-ref', '-m', `run-claude: moved to ${ref}`, `refs/heads/${branch}`, to, from]);
  // From one tree to the other, so that what the index says of other files stays: a sparse checkout, a split index.
  if (checkedOut) hostGit(project, ['read-tree', '-m', '-i', from, to]);
}

/** What `--branch` asks for: the name of a new branch, after the session's branch that it is made of where that is named. */
export interface WantedBranch {
  readonly name: string;
  readonly from?: string;
}

/** `NAME` or `SESSION-BRANCH:NAME`: no name of a branch has a colon. */
export function wantedBranch(words: string): WantedBranch {
  const at = words.indexOf(':');
  return at < 0 ? { name: words } : { name: words.slice(at + 1), from: words.slice(0, at) };
}

/**
 * The session's branch that a new branch of the user starts from: the one that is named, the only one, or the one of the
 * same name. Reads refs only.
 *
 * @throws {RunClaudeError} COMMITS_REFUSED when the name is not valid for a branch or is taken, or when the session has no
 * such branch, or several and none of that name: the hint names each.
 */
export function planBranch(
  project: string,
  { name, from }: WantedBranch,
  branches: readonly ReceivedBranch[],
): ReceivedBranch {
  const why = whyRefusedName(project, name);
  if (why !== undefined) throw refusedCommits(why);
  const taken = hostGit(project, ['for-each-ref', '--format=%(refname)', `refs/heads/${name}`]).toString();
  if (taken !== '') throw refusedCommits(`there is a branch ${taken.trim().slice('refs/heads/'.length)} here already`);
  const [only, ...others] = branches;
  const found =
    from === undefined && others.length === 0 ? only : branches.find(({ branch }) => branch === (from ?? name));
  if (found !== undefined) return found;
  const names = branches.map(({ branch }) => branch);
  const list = `${names.slice(0, MAX_NAMED).join(', ')}${names.length > MAX_NAMED ? ', …' : ''}`;
  const what =
    from === undefined
      ? `the session has several branches: ${list}`
      : `the session has no branch ${from}, it has ${list}`;
  const options = names.slice(0, MAX_NAMED).map((one) => `--branch ${shellWord(`${one}:${name}`)}`);
  throw refusedCommits(what, undefined, `Nothing was imported. Name the one to take: ${options.join(', or ')}`);
}

const MAX_NAMED = 5;

/** Creates the branch, unless one of that name exists; it is not checked out. Hooks do not run. */
export function makeBranch(project: string, name: string, { commit, ref }: ReceivedBranch): void {
  hostGit(project, ['update-ref', '-m', `run-claude: made from ${ref}`, `refs/heads/${name}`, commit, '']);
}

/** `refs/heads/NAME` of the branch that is checked out. */
export function currentBranch(project: string): string | undefined {
  if (!hostGitSucceeds(project, ['symbolic-ref', '-q', 'HEAD'])) return undefined;
  return hostGit(project, ['symbolic-ref', '-q', 'HEAD']).toString().trim();
}

function worktreesOn(project: string, name: string): number {
  const listed = hostGit(project, ['worktree', 'list', '--porcelain', '-z']).toString();
  return listed.split('\0').filter((line) => line === `branch ${name}`).length;
}

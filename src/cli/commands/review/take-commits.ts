import { RunClaudeError } from '../../../core/errors.ts';
import { shellWord } from '../../../core/text/shell-word.ts';
import type { SessionRecord } from '../../../core/types/session.ts';
import type { RepositoryCommits } from '../../../review/commits/audit/audit-commits.ts';
import type { ReceivedBranch } from '../../../review/commits/import-commits.ts';
import {
  type BranchMove,
  makeBranch,
  moveBranch,
  type NoMove,
  planBranch,
  planMove,
  type WantedBranch,
  wantedBranch,
} from '../../../review/commits/move-branch.ts';
import type { Repository } from '../../../review/commits/repositories.ts';
import {
  type GitWords,
  isPartOfHead,
  joinAdvice,
  mergeCommand,
  type OpenCommits,
  onePerRepository,
  openCommits,
} from '../../../review/commits/taken-twice.ts';
import { hasAppliedFiles } from '../../../session/later/session-commits.ts';
import type { UserDeps } from '../../../session/stage/deps.ts';
import { askYesNo } from '../../../terminal/ask.ts';
import { cleanLine } from '../../../terminal/clean.ts';
import { type BranchMoveWords, moveQuestion } from './questions.ts';

/** The import of a session's commits. */
export interface CommitImport {
  readonly record: SessionRecord;
  readonly made: readonly RepositoryCommits[];
  /** The new branch that each repository gets; undefined: none, and moves of the user's branches are offered. */
  readonly branches: { readonly name: string; readonly from: readonly ReceivedBranch[] } | undefined;
  readonly git: GitWords;
}

/**
 * The session's branches that `--branch` makes a branch of, by repository.
 *
 * @throws {RunClaudeError} COMMITS_REFUSED as planBranch does, naming the repository.
 */
export function planBranches(made: readonly RepositoryCommits[], words: string | undefined): CommitImport['branches'] {
  if (words === undefined) return undefined;
  const wanted = wantedBranch(words);
  return { name: wanted.name, from: made.map((one) => planBranchIn(one, wanted)) };
}

function planBranchIn({ repository, received }: RepositoryCommits, wanted: WantedBranch): ReceivedBranch {
  try {
    return planBranch(repository.place, wanted, received.branches);
  } catch (error) {
    if (!(error instanceof RunClaudeError) || repository.path === '') throw error;
    const { code, message, hint, status } = error;
    const own = `${hint ?? ''} Or import the repositories one by one: --only ${repository.path}`;
    throw new RunClaudeError(code, `${cleanLine(repository.path)}: ${message}`, { status, cause: error, hint: own });
  }
}

/** Imports the commits, makes or moves branches, and says how to go on in each repository. Submodules come first. */
export async function takeCommits({ record, made, branches, git }: CommitImport, deps: UserDeps): Promise<void> {
  const say = (text: string): void => deps.tell({ kind: 'message', level: 'info', text: cleanLine(text) });
  // A commit above a submodule never names one that is not there yet.
  for (const { received, lfs } of made) {
    lfs.import();
    received.import();
  }
  const hasFiles = hasAppliedFiles(record);
  const open: OpenCommits[] = [];
  for (const [at, { repository, received }] of made.entries()) {
    const of = { repository, git, hasFiles, say };
    const from = branches?.from[at];
    if (branches === undefined || from === undefined) {
      for (const branch of received.branches) {
        const left = await offerMove(branch, of, record, deps);
        if (left !== undefined) open.push(left);
      }
      continue;
    }
    const { name } = branches;
    makeBranch(repository.place, name, from);
    say(`Made branch ${name}${repositorySuffix(repository.path)} at ${from.commit.slice(0, 10)}.`);
    open.push(openCommits(repository, name, from.branch));
  }
  if (!hasFiles || open.length === 0) return;
  const canUndo = record.plan.mode !== 'bind';
  for (const text of joinAdvice({ sessionId: record.id, commits: onePerRepository(open), canUndo, git })) say(text);
}

/** ' in lib' for a repository besides the project's own. */
export function repositorySuffix(path: string): string {
  return path === '' ? '' : ` in ${cleanLine(path)}`;
}

interface RepositoryWords {
  readonly repository: Repository;
  readonly git: GitWords;
  /** Whether the project has the session's files already. */
  readonly hasFiles: boolean;
  readonly say: (text: string) => void;
}

/** Moves the user's branch, or says how. Returns what the user's files keep git from taking. */
async function offerMove(
  branch: ReceivedBranch,
  { repository, git, hasFiles, say }: RepositoryWords,
  record: SessionRecord,
  deps: UserDeps,
): Promise<OpenCommits | undefined> {
  const { path, place } = repository;
  const where = repositorySuffix(path);
  const commits = openCommits(repository, branch.ref, branch.branch);
  say(`Imported ${branch.ref}${where}`);
  const move = planMove(place, branch);
  if ('why' in move) {
    if (move.isThere === true || isPartOfHead(place, branch.commit)) {
      say(`Your repository${where} has these commits on a branch already.`);
      return undefined;
    }
    if (hasFiles) return commits;
    say(wayOf(branch, move, commits, git));
    return undefined;
  }
  const isYesToMove = deps.screen !== undefined && (await askYesNo(deps.screen, moveQuestion(moveWords(move, where))));
  if (isYesToMove) {
    moveBranch(place, move);
    say(`Moved ${branch.branch}${where} from ${move.from.slice(0, 10)} to ${move.to.slice(0, 10)}.`);
    if (move.checkedOut && !hasFiles)
      say(
        `Your files${where} are as before, so git status shows them as changed. To bring them: run-claude apply ${record.id}`,
      );
    return undefined;
  }
  if (move.checkedOut && hasFiles) return commits;
  const fetch = `${git(path)} fetch . ${shellWord(`${move.ref}:${move.branch}`)}`;
  say(`To move ${branch.branch}${where} there: ${move.checkedOut ? mergeCommand(commits, git) : fetch}`);
  return undefined;
}

/** How to take imported commits that no branch can be moved to. */
function wayOf({ branch, ref, isDetached }: ReceivedBranch, move: NoMove, commits: OpenCommits, git: GitWords): string {
  const where = repositorySuffix(commits.repository);
  if (isDetached === true)
    return `The session made these commits${where} on no branch. To take them: ${mergeCommand(commits, git)}`;
  if (move.isMissing === true)
    return `To make branch ${branch}${where}: ${git(commits.repository)} branch ${shellWord(branch)} ${shellWord(ref)}`;
  return `Branch ${branch}${where} was not moved: ${move.why}. To take the commits: ${mergeCommand(commits, git)}`;
}

function moveWords({ branch, from, to, commits, checkedOut }: BranchMove, where: string): BranchMoveWords {
  return {
    branch: `${cleanLine(branch)}${where}`,
    commits: `${commits} ${commits === 1 ? 'commit' : 'commits'}`,
    from: from.slice(0, 10),
    to: to.slice(0, 10),
    checkedOut,
  };
}

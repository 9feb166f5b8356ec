import { RunClaudeError } from '../../core/errors.ts';
import { type GitArguments, type GitOptions, gitSucceeds, runGitSync } from '../../core/host/git.ts';

/**
 * Output of git in the user's repository or in run-claude's own, never in one that a session wrote.
 * @throws {RunClaudeError} COMMITS_REFUSED with git's reason when the command fails.
 */
export function hostGit(
  cwd: string,
  args: GitArguments,
  input?: Buffer,
  options: Pick<GitOptions, 'allowsFileTransport' | 'indexFile'> = {},
): Buffer {
  try {
    return runGitSync(args, { cwd, ...options, ...(input && { input }) });
  } catch (error) {
    if (error instanceof RunClaudeError) throw refusedCommits(error.message, error);
    throw error;
  }
}

/** Whether a plumbing command that answers by its exit status succeeds. */
export function hostGitSucceeds(cwd: string, args: GitArguments): boolean {
  return gitSucceeds(args, { cwd });
}

/** The error of every step of an import. The user's repository is unchanged. */
export function refusedCommits(why: string, cause?: RunClaudeError, hint: string = KEPT): RunClaudeError {
  return new RunClaudeError('COMMITS_REFUSED', `the session's commits cannot be taken: ${why}`, { cause, hint });
}

const KEPT = 'Nothing was imported; the session keeps its commits. `run-claude explore` shows its repository.';

const MOST_TIPS = 500;

/** Commits that the user's branches and tags name, newest first, `most` of them. Empty where there is no repository yet. */
export function hostTips(project: string, most: number = MOST_TIPS): string[] {
  const words: GitArguments = [
    'for-each-ref',
    `--count=${Math.min(most, MOST_TIPS)}`,
    '--sort=-creatordate',
    '--format=%(objectname)^{}',
  ];
  // Without refs/run-claude: commits imported earlier can be shown, and their branch moved, once more.
  const names = hostGit(project, [...words, 'refs/heads', 'refs/tags', 'refs/remotes'])
    .toString()
    .trim()
    .split('\n');
  const lines = ['HEAD', ...names].map((name) => `${name}\n`).join('');
  const checked = hostGit(project, ['cat-file', '--batch-check'], Buffer.from(lines)).toString().split('\n');
  const ids = checked.flatMap((line) => /^([0-9a-f]{40,64}) commit /.exec(line)?.[1] ?? []);
  return [...new Set(ids)];
}

import { usageError } from '../../core/errors.ts';
import { runGitSync } from '../../core/host/git.ts';
import { runGh, runUserGit } from '../../core/host/user-git.ts';
import { currentBranch } from '../commits/move-branch.ts';
import { readUserConfig, type Setting, settingOf } from './user-config.ts';

const REMOTE_NAME = /^[0-9A-Za-z][0-9A-Za-z._-]*(?:\/[0-9A-Za-z][0-9A-Za-z._-]*)*$/;

/**
 * The remote to push to: the one that is named, otherwise what git would take for the current branch.
 *
 * @throws {RunClaudeError} USAGE where there is none of that name, or none that git would take.
 */
export async function findRemote(project: string, env: NodeJS.ProcessEnv, named: string | undefined): Promise<string> {
  return pickRemote(await readUserConfig(project, env), currentBranch(project)?.replace(/^refs\/heads\//, ''), named);
}

/** As {@link findRemote}. Pure. */
export function pickRemote(
  settings: readonly Setting[],
  branch: string | undefined,
  named: string | undefined,
): string {
  const remotes = new Set(settings.flatMap(({ key }) => /^remote\.(.+)\.url$/s.exec(key)?.[1] ?? []));
  const list = `The remotes are: ${[...remotes].filter((one) => REMOTE_NAME.test(one)).join(', ') || 'none'}.`;
  if (named !== undefined) {
    if (remotes.has(named) && REMOTE_NAME.test(named)) return named;
    throw usageError(`--push: ${JSON.stringify(named)} is not a remote of this repository`, list);
  }
  const wanted = [
    ...(branch === undefined ? [] : [settingOf(settings, `branch.${branch}.pushremote`)]),
    settingOf(settings, 'remote.pushdefault'),
    ...(branch === undefined ? [] : [settingOf(settings, `branch.${branch}.remote`)]),
    'origin',
    ...(remotes.size === 1 ? remotes : []),
  ];
  const found = wanted.find((one) => one !== undefined && remotes.has(one) && REMOTE_NAME.test(one));
  if (found !== undefined) return found;
  throw usageError('--push: there is no remote to push to', `Name one with --push=REMOTE. ${list}`);
}

/** Number of commits below `commit` that no ref of the remote is known to have: they are pushed with it. */
export function unpushedBelow(project: string, commit: string, remote: string): number {
  const counted = runGitSync(['rev-list', '--count', `${commit}^`, '--not', `--remotes=${remote}`], { cwd: project });
  return Number(counted.toString());
}

/**
 * Pushes one commit as a new branch of the remote: never over a branch that the remote has. No hook of this machine runs;
 * those of the server are its own.
 *
 * @throws {RunClaudeError} GIT_FAILED with git's reason.
 */
export async function pushBranch(
  project: string,
  env: NodeJS.ProcessEnv,
  { remote, name, commit }: { readonly remote: string; readonly name: string; readonly commit: string },
): Promise<void> {
  const ref = `refs/heads/${name}`;
  const options = [
    '--porcelain',
    '--no-verify',
    '--no-follow-tags',
    '--recurse-submodules=no',
    `--force-with-lease=${ref}:`,
  ];
  await runUserGit(['push', ...options, '--', remote, `${commit}:${ref}`], { cwd: project, env });
}

/** @throws {RunClaudeError} GH_MISSING. */
export async function requireGh(project: string, env: NodeJS.ProcessEnv): Promise<void> {
  await runGh(['--version'], { cwd: project, env, timeoutMs: 30_000 });
}

export interface PullRequest {
  readonly name: string;
  /** The branch that it asks to be merged into; undefined: the repository's default. */
  readonly base: string | undefined;
  readonly title: string;
  readonly body: string;
}

/** Opens a pull request for a pushed branch. Returns what gh prints: its address. */
export async function openPullRequest(
  project: string,
  env: NodeJS.ProcessEnv,
  { name, base, title, body }: PullRequest,
): Promise<string> {
  const words = [
    `--head=${name}`,
    ...(base === undefined ? [] : [`--base=${base}`]),
    `--title=${title}`,
    '--body-file=-',
  ];
  return (await runGh(['pr', 'create', ...words], { cwd: project, env, input: body })).trim();
}

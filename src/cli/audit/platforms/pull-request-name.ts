import { usageError } from '../../../core/errors.ts';

/** A pull request of GitHub, or a merge request of GitLab. */
export interface PullRequestName {
  readonly platform: 'github' | 'gitlab';
  /** Address of the API, without a slash at its end. */
  readonly api: string;
  /** Address that git fetches from. */
  readonly git: string;
  /** Host and port: a token is sent only to the host that it is for. */
  readonly host: string;
  /** `owner/name`, of GitLab with groups. */
  readonly repository: string;
  readonly number: number;
}

const PLATFORMS = [
  { platform: 'github', path: /^\/([\w.-]+\/[\w.-]+)\/pull\/(\d{1,9})(?:\/.*)?$/ },
  { platform: 'gitlab', path: /^\/([\w.-]+(?:\/[\w.-]+)+)\/-\/merge_requests\/(\d{1,9})(?:\/.*)?$/ },
] as const;

/**
 * The pull request that a URL names, or a number in the repository of `origin`. Only https, and http of this machine.
 *
 * @throws {RunClaudeError} USAGE for any other word
 */
export function namePullRequest(word: string, origin: () => string | undefined): PullRequestName {
  if (/^#?\d{1,9}$/.test(word)) return ofNumber(word.replace('#', ''), origin());
  const url = URL.canParse(word) ? new URL(word) : undefined;
  const isOwn = url?.protocol === 'http:' && ['127.0.0.1', 'localhost'].includes(url.hostname);
  if (url === undefined || (url.protocol !== 'https:' && !isOwn)) throw wrong(word);
  for (const { platform, path } of PLATFORMS) {
    const [, repository, number] = path.exec(url.pathname) ?? [];
    if (repository !== undefined && !repository.split('/').some((part) => /^\.+$/.test(part)))
      return named(platform, url, repository, Number(number));
  }
  throw wrong(word);
}

function named(platform: 'github' | 'gitlab', url: URL, repository: string, number: number): PullRequestName {
  const { host, protocol } = url;
  const at = `${protocol}//${host}`;
  const api =
    platform === 'gitlab' ? `${at}/api/v4` : host === 'github.com' ? 'https://api.github.com' : `${at}/api/v3`;
  return { platform, api, git: `${at}/${repository}.git`, host, repository, number };
}

/** `https://host/owner/name.git`, `git@host:owner/name.git` and `ssh://git@host/owner/name`. */
function ofNumber(number: string, origin: string | undefined): PullRequestName {
  const [, host = '', repository = ''] =
    /^(?:https?:\/\/(?:[^@/]*@)?|ssh:\/\/(?:[^@/]*@)?|[\w.-]+@)([\w.-]+(?::\d+(?=\/))?)[:/]([\w./-]+?)(?:\.git)?\/?$/.exec(
      origin ?? '',
    ) ?? [];
  if (host === '') throw usageError(`--pr ${number}: origin names no repository of a platform`, 'Write its URL.');
  const isOwn = /^http:\/\/(?:127\.0\.0\.1|localhost)\b/.test(origin ?? '');
  const at = isOwn
    ? `http://${host}`
    : `https://${host.replace(/:\d+$/, (port) => (origin?.startsWith('ssh') ? '' : port))}`;
  const isGitLab = /(?:^|\.)gitlab\b/.test(host);
  return namePullRequest(`${at}/${repository}${isGitLab ? '/-/merge_requests/' : '/pull/'}${number}`, () => undefined);
}

function wrong(word: string): Error {
  return usageError(
    `--pr: '${word.slice(0, 200)}' is not a pull request`,
    'Write its number, or https://github.com/OWNER/NAME/pull/N, or https://gitlab.com/GROUP/NAME/-/merge_requests/N.',
  );
}

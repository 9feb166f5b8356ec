import { z } from 'zod';
import { EXIT, RunClaudeError } from '../../../core/errors.ts';
import { markdownReport } from '../../../core/report/markdown.ts';
import type { Report } from '../../../core/report/schema.ts';
import type { Tell } from '../../../core/types/event.ts';
import { callApi } from './call-api.ts';
import type { PullRequestName } from './pull-request-name.ts';

/** A pull request that was audited, and the token for it. */
export interface OpenPullRequest {
  readonly name: PullRequestName;
  readonly token: string | undefined;
  /** Full id of the commit that was audited. */
  readonly head: string;
}

export interface VerdictToPost {
  readonly pullRequest: OpenPullRequest;
  readonly report: Report;
  /** In words. */
  readonly verdict: string;
  /** The exit status of the verdict and of --fail-on. */
  readonly status: number;
  readonly env: NodeJS.ProcessEnv;
  readonly tell: Tell;
}

/** The first line of the comment: by it and its author the next audit finds it. */
export const MARKER = '<!-- run-claude audit -->';
const CHECK_NAME = 'run-claude audit';
/** The author of what the token of a job of GitHub Actions writes. It may not ask who it is. */
const ACTIONS_LOGIN = 'github-actions[bot]';
const PAGE = 100;
const MAX_PAGES = 20;

/**
 * Shows a verdict where the pull request is: as a check run (GitHub), and as one comment that the next audit updates.
 * Returns the exit status: that of a verdict which the platform shows as neither passed nor failed is 0, any other is as it
 * was. What cannot be shown is reported, and never makes a status better.
 */
export async function postVerdict(posted: VerdictToPost): Promise<number> {
  const { pullRequest, tell, status } = posted;
  const attempt = async (what: string, run: () => Promise<unknown>): Promise<boolean> => {
    try {
      await run();
      return true;
    } catch (error) {
      if (!(error instanceof RunClaudeError)) throw error;
      const text = `The ${what} was not written: ${error.message}. ${error.hint ?? ''}`.trim();
      tell({ kind: 'message', level: 'warning', text });
      return false;
    }
  };
  const isGitHub = pullRequest.name.platform === 'github';
  const isChecked = isGitHub && (await attempt('check', () => writeCheck(posted)));
  await attempt('comment', () => writeComment(posted));
  return isChecked && status === EXIT.needsPerson ? EXIT.ok : status;
}

function headersOf({ name, token }: OpenPullRequest): Readonly<Record<string, string>> {
  if (token === undefined) throw new RunClaudeError('PLATFORM_FAILED', `there is no token for ${name.host}`);
  return name.platform === 'gitlab' ? { 'private-token': token } : { authorization: `Bearer ${token}` };
}

async function writeCheck({ pullRequest, report, verdict, status, env }: VerdictToPost): Promise<void> {
  const { name, head } = pullRequest;
  const conclusion = status === EXIT.ok ? 'success' : status === EXIT.needsPerson ? 'neutral' : 'failure';
  const output = { title: `Verdict: ${verdict}`, summary: markdownReport(report) };
  const body = { name: CHECK_NAME, head_sha: head, status: 'completed', conclusion, output };
  const url = `${name.api}/repos/${name.repository}/check-runs`;
  await callApi({ method: 'POST', url, headers: headersOf(pullRequest), body }, env);
}

const COMMENTS = z.array(
  z.object({
    id: z.int(),
    body: z.string().nullish(),
    user: z.object({ login: z.string() }).nullish(),
    author: z.object({ username: z.string() }).nullish(),
  }),
);

async function writeComment({ pullRequest, report, verdict, env }: VerdictToPost): Promise<void> {
  const { name } = pullRequest;
  const headers = headersOf(pullRequest);
  const isGitHub = name.platform === 'github';
  const project = isGitHub ? `repos/${name.repository}` : `projects/${encodeURIComponent(name.repository)}`;
  const list = isGitHub
    ? `${name.api}/${project}/issues/${name.number}/comments`
    : `${name.api}/${project}/merge_requests/${name.number}/notes`;
  const body = { body: `${MARKER}\n**Verdict: ${verdict}**\n\n${markdownReport(report)}` };
  const id = await ownComment(pullRequest, list, headers, env);
  if (id === undefined) await callApi({ method: 'POST', url: list, headers, body }, env);
  else if (isGitHub)
    await callApi({ method: 'PATCH', url: `${name.api}/${project}/issues/comments/${id}`, headers, body }, env);
  else await callApi({ method: 'PUT', url: `${list}/${id}`, headers, body }, env);
}

/** The comment of an earlier audit. One of another author is not taken, whatever it begins with: they could change it later. */
async function ownComment(
  { name }: OpenPullRequest,
  list: string,
  headers: Readonly<Record<string, string>>,
  env: NodeJS.ProcessEnv,
): Promise<number | undefined> {
  const user = await callApi({ method: 'GET', url: `${name.api}/user`, headers }, env).catch(() => ({}));
  const own = z.object({ login: z.string().optional(), username: z.string().optional() }).safeParse(user).data ?? {};
  const login = own.username ?? own.login ?? (name.platform === 'github' ? ACTIONS_LOGIN : undefined);
  for (let page = 1; page <= MAX_PAGES; page++) {
    const url = `${list}?per_page=${PAGE}&page=${page}`;
    const comments = COMMENTS.safeParse(await callApi({ method: 'GET', url, headers }, env)).data;
    if (comments === undefined)
      throw new RunClaudeError('PLATFORM_FAILED', 'the platform answers with something else than comments');
    const found = comments.find(
      ({ body, user: by, author }) =>
        body?.startsWith(MARKER) === true && login !== undefined && (by?.login ?? author?.username) === login,
    );
    if (found !== undefined) return found.id;
    if (comments.length < PAGE) return undefined;
  }
  return undefined;
}

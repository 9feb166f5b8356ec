import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { RunClaudeError } from '../../../core/errors.ts';
import { parseConfig } from '../../../core/git/config-parse.ts';
import { findRepository } from '../../../core/host/facts.ts';
import { runGit } from '../../../core/host/git.ts';
import { requirePackageOutside } from '../../../core/host/programs/trusted-start.ts';
import { runGh } from '../../../core/host/user-git.ts';
import { repositoryConfig } from '../../../review/commits/audit/audit-commit-range.ts';
import { openGitObjects } from '../../../review/commits/git-objects.ts';
import { auditBetween } from '../sources/commits.ts';
import { makeScratchRepository } from '../sources/scratch-repository.ts';
import { type AuditedSource, type SourceRequest, shortId } from '../sources/source.ts';
import { callApi } from './call-api.ts';
import type { OpenPullRequest } from './post-verdict.ts';
import { namePullRequest, type PullRequestName } from './pull-request-name.ts';
import { tokenFor } from './token.ts';

const id = z.string().regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/);
const OF_GITHUB = z.object({ base: z.object({ sha: id }), head: z.object({ sha: id }) });
const COMPARED = z.object({ merge_base_commit: z.object({ sha: id }) });
const OF_GITLAB = z.object({ diff_refs: z.object({ base_sha: id, head_sha: id }) });

export interface AuditedPullRequest extends AuditedSource {
  readonly pullRequest: OpenPullRequest;
}

/**
 * Audits a pull request without a checkout: both ends are fetched with one request, as commits without history, into a
 * repository that is removed afterwards.
 *
 * @throws {RunClaudeError} USAGE, PACKAGE_IN_PROJECT, PLATFORM_FAILED, GIT_FAILED; PR_MOVED when it was pushed to since
 */
export async function auditPullRequest(request: SourceRequest, word: string): Promise<AuditedPullRequest> {
  const { folder, env } = request;
  // Outside of a repository, nothing of the folder is anybody else's.
  const around = findRepository(realpathSync(folder));
  if (around !== undefined) requirePackageOutside([around]);
  const own = openGitObjects(folder, env);
  const config = await repositoryConfig(own).catch(() => undefined);
  const name = namePullRequest(word, () => originOf(config));
  const scratch = mkdtempSync(path.join(tmpdir(), 'run-claude-pr-'));
  try {
    const repository = await makeScratchRepository(scratch);
    const token = tokenFor(name, env) ?? (await tokenOfGh(name, repository, env));
    const { base, head } = await endsOf(name, token, env);
    const ref =
      name.platform === 'github' ? `refs/pull/${name.number}/head` : `refs/merge-requests/${name.number}/head`;
    const user = name.platform === 'github' ? 'x-access-token' : 'oauth2';
    const authorization = token === undefined ? undefined : `Basic ${btoa(`${user}:${token}`)}`;
    const options = ['--quiet', '--depth=1', '--no-tags', '--no-recurse-submodules', '--no-write-fetch-head'];
    await runGit(['fetch', ...options, '--', name.git, base, `${ref}:refs/heads/head`], {
      cwd: repository,
      network: { env, authorization },
    });
    const git = openGitObjects(repository);
    if ((await git.commit('refs/heads/head')) !== head)
      throw new RunClaudeError('PR_MOVED', `${word} was pushed to while it was read`, { hint: 'Audit it again.' });
    const label = `${name.repository} ${name.number}: ${shortId(head)} since ${shortId(base)}`;
    const audited = await auditBetween(request, git, { base, head, label });
    return { ...audited, pullRequest: { name, token, head } };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** The head, and the newest commit that it has in common with the target. */
async function endsOf(
  { platform, api, repository, number }: PullRequestName,
  token: string | undefined,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly base: string; readonly head: string }> {
  if (platform === 'gitlab') {
    const headers = token === undefined ? {} : { 'private-token': token };
    const url = `${api}/projects/${encodeURIComponent(repository)}/merge_requests/${number}`;
    const { diff_refs: refs } = read(OF_GITLAB, await callApi({ method: 'GET', url, headers }, env));
    return { base: refs.base_sha, head: refs.head_sha };
  }
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const get = (rest: string): Promise<unknown> =>
    callApi({ method: 'GET', url: `${api}/repos/${repository}/${rest}`, headers }, env);
  const { base, head } = read(OF_GITHUB, await get(`pulls/${number}`));
  // One commit a page: only the common one is of interest.
  const compared = read(COMPARED, await get(`compare/${base.sha}...${head.sha}?per_page=1`));
  return { base: compared.merge_base_commit.sha, head: head.sha };
}

function read<T>(schema: z.ZodType<T>, answer: unknown): T {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  throw new RunClaudeError('PLATFORM_FAILED', 'the platform answers with something else than a pull request');
}

function originOf(config: Buffer | undefined): string | undefined {
  if (config === undefined) return undefined;
  return parseConfig(config.toString()).entries.findLast(({ key }) => key === 'remote.origin.url')?.value;
}

/** The login of `gh` for this host, where there is one. */
async function tokenOfGh(
  { platform, host }: PullRequestName,
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  if (platform !== 'github') return undefined;
  const words = ['auth', 'token', '--hostname', host];
  const token = await runGh(words, { cwd, env, timeoutMs: 10_000 }).catch(() => '');
  return token.trim() === '' ? undefined : token.trim();
}

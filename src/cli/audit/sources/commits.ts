import { auditTrees, repositoryConfig, treeOf } from '../../../review/commits/audit/audit-commit-range.ts';
import { type GitObjects, openGitObjects } from '../../../review/commits/git-objects.ts';
import { type AuditedSource, projectFilesOf, type SourceRequest, shortId } from './source.ts';

/**
 * Audits the commits from the newest one that both ends have to the second end.
 *
 * @throws {RunClaudeError} USAGE for what is not a commit, and for ends without a common commit
 */
export async function auditCommits(
  request: SourceRequest,
  [from, to]: readonly [from: string, to: string],
): Promise<AuditedSource> {
  const git = openGitObjects(request.folder, request.env);
  const head = await git.commit(to);
  const base = await git.mergeBase(await git.commit(from), head);
  return auditBetween(request, git, { base, head, label: `${to} since ${shortId(base)} (${from})` });
}

/** Audits what differs between two commits. */
export async function auditBetween(
  { policyWith, ...progress }: Pick<SourceRequest, 'policyWith' | 'signal' | 'tell'>,
  git: GitObjects,
  { base, head, label }: { readonly base: string; readonly head: string; readonly label: string },
): Promise<AuditedSource> {
  const [before, after] = await Promise.all([treeOf(git, base), treeOf(git, head)]);
  const policy = await policyWith(await projectFilesOf(git, before));
  const config = await repositoryConfig(git);
  const { signal, tell } = progress;
  const review = await auditTrees({ git, before, after, config, policy, signal, tell });
  return { label, review, policy, base, head };
}

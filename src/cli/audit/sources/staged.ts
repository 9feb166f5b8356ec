import { auditTrees, repositoryConfig, treeByPath, treeOf } from '../../../review/commits/audit/audit-commit-range.ts';
import { openGitObjects } from '../../../review/commits/git-objects.ts';
import { headOf } from './head.ts';
import { type AuditedSource, projectFilesOf, type SourceRequest, shortId } from './source.ts';

/**
 * Audits what the next commit would change. `indexFile`: absolute, of a hook of git, which may commit another index than
 * the repository's own.
 *
 * @throws {RunClaudeError} USAGE for an unfinished merge, and where there is no repository
 */
export async function auditStaged(
  { folder, policyWith, env, ...progress }: SourceRequest,
  indexFile: string | undefined,
): Promise<AuditedSource> {
  const git = openGitObjects(folder, env, indexFile === undefined ? {} : { indexFile });
  const base = await headOf(git);
  const [before, after] = await Promise.all([
    base === undefined ? new Map() : treeOf(git, base),
    git.index().then(treeByPath),
  ]);
  const policy = await policyWith(await projectFilesOf(git, before));
  const config = await repositoryConfig(git);
  const review = await auditTrees({ git, before, after, config, policy, ...progress });
  const against = base === undefined ? 'the first commit' : `since ${shortId(base)}`;
  return { label: `staged changes, ${against}`, review, policy, base };
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { RunClaudeError, usageError } from '../../../core/errors.ts';
import { runGit } from '../../../core/host/git.ts';
import { auditTrees, repositoryConfig, treeByPath } from '../../../review/commits/audit/audit-commit-range.ts';
import { openGitObjects, type TreeEntry } from '../../../review/commits/git-objects.ts';
import { headOf } from './head.ts';
import { makeScratchRepository } from './scratch-repository.ts';
import { type AuditedSource, projectFilesOf, type SourceRequest, shortId } from './source.ts';

/** A larger patch is refused. In bytes. */
export const MAX_PATCH_BYTES: number = 256 << 20;

/**
 * Audits a patch, as `git apply` would read it: from HEAD, or from the index when it does not apply to HEAD, as the output
 * of `git diff` may not. It is applied to an index in a directory of run-claude's, and no file of the work tree is read or
 * written.
 *
 * @throws {RunClaudeError} USAGE for a patch that is empty, or fits neither; PATCH_FORBIDDEN for a path that git refuses
 */
export async function auditPatch(
  { folder, policyWith, env, ...progress }: SourceRequest,
  patch: Buffer,
): Promise<AuditedSource> {
  if (patch.toString('latin1').trim() === '')
    throw usageError(
      'the patch is empty: there is nothing to audit',
      'git diff prints nothing when nothing changed, or when it failed. Use --staged for what is added.',
    );
  const git = openGitObjects(folder, env);
  const base = await headOf(git);
  const scratch = mkdtempSync(path.join(tmpdir(), 'run-claude-patch-'));
  try {
    const repository = await makeScratchRepository(scratch, await git.objectsDir());
    const fromHead = base === undefined ? [] : await git.tree(base);
    const failures: RunClaudeError[] = [];
    // A conflict in the index only means that the patch can be of HEAD alone.
    const readers = [async () => fromHead, () => git.index().catch(() => undefined)];
    for (const [at, read] of readers.entries()) {
      const entries = await read();
      if (entries === undefined) continue;
      try {
        const after = treeByPath(await applied(repository, entries, patch));
        const before = treeByPath(entries);
        const objects = openGitObjects(repository);
        const config = await repositoryConfig(git);
        const policy = await policyWith(await projectFilesOf(git, before));
        const review = await auditTrees({ git: objects, before, after, config, policy, ...progress });
        const from = at === 0 ? 'HEAD' : 'the index';
        const against = base === undefined ? '' : ` of ${shortId(base)}`;
        return { label: `a patch for ${from}${against}`, review, policy, base };
      } catch (error) {
        if (!(error instanceof RunClaudeError) || error.code !== 'GIT_FAILED') throw error;
        failures.push(error);
      }
    }
    throw refused(failures[0]?.message ?? '');
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** The entries after the patch. Throws GIT_FAILED when it does not apply. */
async function applied(
  repository: string,
  entries: readonly TreeEntry[],
  patch: Buffer,
): Promise<readonly TreeEntry[]> {
  const at = { cwd: repository };
  await runGit(['read-tree', '--empty'], at);
  const rows = entries.map(({ mode, oid, path: name }) => Buffer.from(`${mode} ${oid} 0\t${name}\0`, 'utf8'));
  await runGit(['update-index', '-z', '--index-info'], { ...at, input: Buffer.concat(rows) });
  await runGit(['apply', '--cached', '--whitespace=nowarn', '-'], { ...at, input: patch });
  return openGitObjects(repository).index();
}

/** The reason of git in the words of this command. */
function refused(message: string): RunClaudeError {
  const [, reason = message] = /^git apply failed: (?:fatal: |error: )?(.*)$/s.exec(message) ?? [];
  if (/invalid path|beyond a symbolic link/.test(reason))
    return new RunClaudeError('PATCH_FORBIDDEN', `the patch writes outside of what git tracks: ${reason}`, {
      hint: 'Do not apply it.',
      status: 121,
    });
  if (/No valid patches/.test(reason)) return usageError('the input is not a patch', 'Pipe in the output of git diff.');
  return usageError(
    `the patch applies neither to HEAD nor to the index: ${reason}`,
    'Check out the commit that it was made for, or audit the commits with --base.',
  );
}

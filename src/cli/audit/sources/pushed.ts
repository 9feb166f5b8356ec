import { usageError } from '../../../core/errors.ts';
import { auditTrees, repositoryConfig, treeOf } from '../../../review/commits/audit/audit-commit-range.ts';
import { type GitObjects, openGitObjects } from '../../../review/commits/git-objects.ts';
import { type AuditedSource, projectFilesOf, type SourceRequest, shortId } from './source.ts';

/** A ref that a push would update. Names are those of git, not cleaned for the terminal. */
export interface PushedRef {
  readonly localRef: string;
  readonly localId: string;
  readonly remoteRef: string;
  /** Undefined: the remote does not have the ref yet. */
  readonly remoteId: string | undefined;
}

const LINE = /^(.+) ([0-9a-f]{40}|[0-9a-f]{64}) (\S+) ([0-9a-f]{40}|[0-9a-f]{64})$/;
const NO_ID = /^0+$/;

/**
 * The refs of what git writes to a pre-push hook: `LOCAL-REF LOCAL-ID REMOTE-REF REMOTE-ID`, one a line. Removals of refs
 * push nothing and are left out.
 *
 * @throws {RunClaudeError} USAGE for any other line
 */
export function parsePushedRefs(text: string): readonly PushedRef[] {
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.flatMap((line) => {
    // `git push origin HEAD~1:x` names an expression, which may have any character.
    const [, localRef, localId = '', remoteRef, remoteId = ''] = LINE.exec(line) ?? [];
    if (localRef === undefined || remoteRef === undefined)
      throw usageError(
        `--pre-push: '${line.slice(0, 100)}' is not a line that git writes to a pre-push hook`,
        'Call run-claude audit --pre-push from .git/hooks/pre-push, or use --base REF.',
      );
    if (NO_ID.test(localId)) return [];
    return [{ localRef, localId, remoteRef, remoteId: NO_ID.test(remoteId) ? undefined : remoteId }];
  });
}

/**
 * Audits what each ref of a push brings to the remote. The remote's own commit is the base, or for a new branch the newest
 * commit that a remote-tracking branch has; without one everything is new. `remote`: its name, where git says it.
 *
 * @throws {RunClaudeError} USAGE for a ref that is not of commits
 */
export async function auditPushed(
  { folder, policyWith, env, ...progress }: SourceRequest,
  refs: readonly PushedRef[],
  remote: string | undefined,
): Promise<readonly AuditedSource[]> {
  const git = openGitObjects(folder, env);
  const config = await repositoryConfig(git);
  const audited: AuditedSource[] = [];
  for (const ref of refs) {
    const head = await git.commit(ref.localId);
    const base = await pushedBase(git, ref, head, remote);
    if (base === head) continue;
    const before = base === undefined ? new Map() : await treeOf(git, base);
    const after = await treeOf(git, head);
    const policy = await policyWith(await projectFilesOf(git, before));
    const review = await auditTrees({ git, before, after, config, policy, ...progress });
    const since = base === undefined ? 'its first push' : `since ${shortId(base)}`;
    audited.push({ label: `${ref.remoteRef}: ${since}`, review, policy, base, head });
  }
  return audited;
}

/** The commit that a ref of a push is compared with; undefined: everything below `head` is new to the remote. */
export async function pushedBase(
  git: GitObjects,
  { remoteId }: Pick<PushedRef, 'remoteId'>,
  head: string,
  remote: string | undefined,
): Promise<string | undefined> {
  // A commit that was never fetched is unknown here: the tracking branches are what is known of the remote.
  const known = remoteId === undefined ? undefined : await git.commit(remoteId).catch(() => undefined);
  if (known !== undefined) {
    const common = await git.commonCommit(head, [known]);
    if (common !== undefined) return common;
  }
  const own = remote === undefined ? [] : await git.remoteTips(remote);
  return git.commonCommit(head, own.length > 0 ? own : await git.remoteTips());
}

import { boundRepositoryMounts } from '../../bind/shield-git.ts';
import { readCommitBase, repositoryConfig } from '../../commits/audit-commit-range.ts';
import { bundleCommits } from '../../commits/bundle-commits.ts';
import { openGitObjects } from '../../commits/git-objects.ts';
import { hostGitSucceeds, hostTips } from '../../commits/host-git.ts';
import { type ReceivedCommits, receiveCommits } from '../../commits/import-commits.ts';
import { judgeBranch, judgeMessage } from '../../commits/judge-words.ts';
import { findLeftOutChanges } from '../../commits/left-out.ts';
import {
  type CommitChanges,
  readBlobs,
  readBranchChanges,
  readCommitChanges,
  readMessages,
  withTargets,
} from '../../commits/read-commits.ts';
import { RunClaudeError } from '../../errors.ts';
import { ChangeJudge, type OwnContent } from '../../judging/change-judge.ts';
import { policySettings } from '../../judging/policy-settings.ts';
import { withLayer } from '../../record/layer-lock.ts';
import { matcher } from '../../review/build-review.ts';
import { isOnBranch } from '../../review/file-progress.ts';
import type { RelPath } from '../../text/path.ts';
import type { Mount } from '../../types/engine.ts';
import type { Change, Digest } from '../../types/entry.ts';
import { type Finding, SEVERITY_RANK } from '../../types/finding.ts';
import type { Policy } from '../../types/policy.ts';
import type { SessionRecord } from '../../types/session.ts';
import { type LackedFiles, lackedFiles, NOTHING_LACKED } from '../../workspace/lacking.ts';
import { reopenWorkspace } from '../../workspace/open.ts';
import type { SessionDeps } from '../start/deps.ts';
import { prepareImage } from '../start/prepare-image.ts';

const MAX_BUNDLE_BYTES = 256 * 1024 * 1024;

/** A finding and the commit that it is in. */
export interface CommitFinding {
  readonly commit: string;
  readonly finding: Finding;
}

/**
 * Copies the commits that a session made into a repository of run-claude's, and checks them. Returns undefined when there
 * are none. The caller disposes the result. Precondition: the session's agent has ended.
 *
 * @throws {RunClaudeError} LAYER_GONE, NO_REPOSITORY; what bundling and checking throw.
 */
export async function fetchCommits(record: SessionRecord, deps: SessionDeps): Promise<ReceivedCommits | undefined> {
  const { plan } = record;
  const { engine, tell } = deps;
  const project = plan.project.root;
  if (
    plan.project.git === 'none' ||
    plan.project.git === 'subfolder' ||
    !hostGitSucceeds(project, ['rev-parse', '--git-dir'])
  ) {
    throw new RunClaudeError('NO_REPOSITORY', `${project} is not a repository of its own`, {
      hint: 'Commits come back to the repository that the session was started in (--repo takes a whole one).',
    });
  }
  const bundle = await withLayer(record, 'reading its commits', async () => {
    await prepareImage(plan, deps);
    const { sessionId, ownImage: image = plan.image, user } = plan;
    const bundle = (mounts: readonly Mount[]) =>
      bundleCommits({ engine, image, sessionId, mounts, user, known: hostTips(project), maxBytes: MAX_BUNDLE_BYTES });
    if (record.bound !== undefined) return bundle(boundRepositoryMounts(plan.sessionDir, record.bound));
    const workspace = await reopenWorkspace({ plan, engine, tell }, record.workspace);
    try {
      return await bundle(workspace.mounts);
    } finally {
      await workspace.close({ keepLayer: true });
    }
  });
  if (bundle === undefined) return undefined;
  return receiveCommits({
    project,
    sessionId: plan.sessionId,
    sessionDir: plan.sessionDir,
    bundle,
    maxBytes: MAX_BUNDLE_BYTES,
  });
}

/**
 * Audits each commit alone, so that nothing hides in a commit that a later one reverts, and the changes of each branch as
 * a whole, and the messages and names of branches. What the session's copy lacked (`lacked`) no commit may change.
 * Returns the findings, the most severe first.
 */
export async function auditCommits(
  received: ReceivedCommits,
  policy: Policy,
  signal?: AbortSignal,
  lacked: LackedFiles = NOTHING_LACKED,
): Promise<CommitFinding[]> {
  let contents: ReadonlyMap<Digest, Buffer> = new Map();
  const content = (digest: Digest): Buffer | undefined => contents.get(digest);
  using judge = new ChangeJudge({ content });
  const allowed = matcher(policy.allowSuspect);
  const seen = new Set<string>();
  const found: CommitFinding[] = [];
  const add = (commit: string, finding: Finding): void => {
    const key = `${finding.rule}\0${finding.path}\0${finding.detail ?? ''}`;
    if (seen.has(key) || (finding.severity === 'suspect' && allowed(finding.path))) return;
    seen.add(key);
    found.push({ commit, finding });
  };
  const judgeOne = async (by: ChangeJudge, { commit, changes, gitlinks }: CommitChanges): Promise<void> => {
    const blobs = readBlobs(received.repository, changes);
    contents = blobs;
    const filled: Change[] = changes.map((change) => withTargets(change, blobs));
    for (const link of gitlinks) add(commit, gitlinkFinding(link));
    for (const finding of await by.audit({ changes: filled, signal, ...policySettings(policy) })) add(commit, finding);
  };
  for (const { commit, path } of findLeftOutChanges(received, lacked)) add(commit, leftOutFinding(path));
  for (const one of readCommitChanges(received)) await judgeOne(judge, one);
  // As an apply of the branch would be judged: beside the project, and with what its own files lead to.
  for (const one of readBranchChanges(received)) {
    const base = one.base === undefined ? undefined : await baseOf(received, one.base, one.commit);
    using beside = new ChangeJudge({ content, ...(base === undefined ? {} : { base }) });
    await judgeOne(beside, one);
  }
  for (const [commit, message] of readMessages(received)) {
    const finding = judgeMessage(message);
    if (finding !== undefined) add(commit, finding);
  }
  for (const { branch, commit } of received.branches) {
    const finding = judgeBranch(branch);
    if (finding !== undefined) add(commit, finding);
  }
  return found.sort((a, b) => SEVERITY_RANK[a.finding.severity] - SEVERITY_RANK[b.finding.severity]);
}

async function baseOf(
  { repository, project }: ReceivedCommits,
  base: string,
  tip: string,
): Promise<OwnContent['base']> {
  const config = await repositoryConfig(openGitObjects(project));
  return readCommitBase(openGitObjects(repository), base, tip, config);
}

function leftOutFinding(path: string): Finding {
  return {
    rule: 'commit-left-out',
    severity: 'blocked',
    path: path as RelPath,
    title: 'Commit changes what was left out of the copy',
    why: 'The session never had your file: the commit deletes it, empties it or writes another one.',
  };
}

function gitlinkFinding(link: string): Finding {
  return {
    rule: 'commit-submodule',
    severity: 'suspect',
    path: link as RelPath,
    title: 'Commit of another repository',
    why: 'A submodule update would fetch it from where .gitmodules says.',
  };
}

/** What the session's copy lacked, for {@link auditCommits}. Throws as lackedFiles. */
export function lackedBy({ plan, workspace }: SessionRecord): LackedFiles {
  return lackedFiles(plan, workspace);
}

/**
 * Whether the project has files of the session that are not in a commit that an import brings: those of an apply that was
 * not undone, and those that a bind session changed in place.
 */
export function hasAppliedFiles({ outcome, plan }: SessionRecord): boolean {
  return plan.mode === 'bind' || outcome?.changes.some((one) => one.verdict === 'applied' && !isOnBranch(one)) === true;
}

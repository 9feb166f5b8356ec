import { findingsOf } from '../../../audit/findings.ts';
import { MaskedSearch } from '../../../audit/masked.ts';
import type { RelPath } from '../../../core/text/path.ts';
import type { Change, Digest } from '../../../core/types/entry.ts';
import { type Finding, SEVERITY_RANK } from '../../../core/types/finding.ts';
import type { Policy } from '../../../core/types/policy.ts';
import type { MaskedValues } from '../../../core/types/secret/decoy.ts';
import { type LackedFiles, NOTHING_LACKED } from '../../../workspace/view/lacking.ts';
import { matcher } from '../../choices/build-review.ts';
import { ChangeJudge, type OwnContent } from '../../judging/change-judge.ts';
import { policySettings } from '../../judging/policy-settings.ts';
import { openGitObjects } from '../git-objects.ts';
import { type GitlinkTargets, judgeGitlinks } from '../gitlinks.ts';
import type { ReceivedCommits } from '../import-commits.ts';
import { findLeftOutChanges } from '../left-out.ts';
import { judgePointers, rawLfsFiles, withLfsContents } from '../lfs/judge.ts';
import { type LfsObjects, NO_LFS } from '../lfs/objects.ts';
import {
  type CommitChanges,
  readBlobs,
  readBranchChanges,
  readCommitChanges,
  readMessages,
  withTargets,
} from '../read-commits.ts';
import type { Repository } from '../repositories.ts';
import { readCommitBase, repositoryConfig } from './audit-commit-range.ts';
import { judgeBranchName, judgeMessage } from './judge-words.ts';

/** A finding and the commit that it is in. */
export interface CommitFinding {
  /** Path of the repository; '' for the project's own. */
  readonly repository: string;
  readonly commit: string;
  readonly finding: Finding;
}

/** The commits that a session made in one repository. */
export interface RepositoryCommits {
  readonly repository: Repository;
  readonly received: ReceivedCommits;
  readonly lfs: LfsObjects;
}

/** The commits of a session, in each repository that has some. */
export interface CommitsOfSession {
  readonly sessionId: string;
  readonly made: readonly RepositoryCommits[];
  /** The user's repositories that the session had a copy of, with commits or without. */
  readonly repositories: readonly Repository[];
}

/** The findings in the commits of every repository, the most severe first. Paths are from the project. */
export async function auditCommitsOfSession(
  { made, repositories, sessionId }: CommitsOfSession,
  policy: Policy,
  { lacked, masked, signal }: Pick<AuditOptions, 'signal' | 'masked'> & { readonly lacked: LackedFiles },
): Promise<CommitFinding[]> {
  const found: CommitFinding[] = [];
  for (const { repository, received, lfs } of made) {
    const gitlinks = { made, repositories, within: repository.path, sessionId };
    for (const one of await auditReceivedCommits(received, policy, {
      signal,
      repository,
      gitlinks,
      lfs,
      lacked,
      masked,
    }))
      found.push(one);
  }
  return found.sort(bySeverity);
}

const bySeverity = (a: CommitFinding, b: CommitFinding): number =>
  SEVERITY_RANK[a.finding.severity] - SEVERITY_RANK[b.finding.severity];

const NOWHERE: GitlinkTargets = { made: [], repositories: [], within: '', sessionId: '' };

interface AuditOptions {
  readonly signal?: AbortSignal | undefined;
  /** Default: the project's own. */
  readonly repository?: Pick<Repository, 'path'>;
  /** Where commits of other repositories are looked up. Default: nowhere. */
  readonly gitlinks?: GitlinkTargets;
  /** Default: the commits have no pointers. */
  readonly lfs?: LfsObjects;
  /** What the session's copy lacked, by paths of the project: no commit may change it. Default: nothing. */
  readonly lacked?: LackedFiles;
  /** Values that no commit, message or name of a branch may have. */
  readonly masked?: MaskedValues | undefined;
}

/**
 * Audits each commit alone, so that nothing hides in a commit that a later one reverts, and the changes of each branch as
 * a whole, and the messages and names of branches. Returns the findings, the most severe first.
 */
export async function auditReceivedCommits(
  received: ReceivedCommits,
  policy: Policy,
  options: AuditOptions = {},
): Promise<CommitFinding[]> {
  const {
    signal,
    repository = { path: '' },
    gitlinks = NOWHERE,
    lfs = NO_LFS,
    lacked = NOTHING_LACKED,
    masked,
  } = options;
  let contents: ReadonlyMap<Digest, Buffer> = new Map();
  const content = (digest: Digest): Buffer | undefined => contents.get(digest);
  using judge = new ChangeJudge({ content });
  const allowed = matcher(policy.allowSuspect);
  const searched = masked === undefined ? {} : { masked };
  const search = masked === undefined ? undefined : new MaskedSearch(masked);
  const maskedIn = (text: string, place: string, where: 'message' | 'branch'): readonly Finding[] =>
    search === undefined
      ? []
      : findingsOf(search.hitsOf(search.inBytes(Buffer.from(text)), place, where), undefined, []);
  const seen = new Set<string>();
  const found: CommitFinding[] = [];
  const prefix = repository.path === '' ? '' : `${repository.path}/`;
  /** `isPath`: it is at a file, not at a message or name. */
  const add = (commit: string, one: Finding, isPath = true): void => {
    const finding = isPath ? { ...one, path: `${prefix}${one.path}` as RelPath } : one;
    const key = `${finding.rule}\0${finding.path}\0${finding.detail ?? ''}`;
    if (seen.has(key) || (finding.severity === 'suspect' && allowed(finding.path))) return;
    seen.add(key);
    found.push({ repository: repository.path, commit, finding });
  };
  const judgeOne = async (by: ChangeJudge, { commit, changes, gitlinks: links }: CommitChanges): Promise<void> => {
    const blobs = withLfsContents(readBlobs(received.repository, changes), lfs);
    contents = blobs;
    const filled: Change[] = changes.map((change) => withTargets(change, blobs));
    for (const finding of judgeGitlinks(links, gitlinks)) add(commit, finding);
    for (const finding of judgePointers(changes, lfs)) add(commit, finding);
    for (const finding of await by.audit({ changes: filled, signal, ...policySettings(policy), ...searched }))
      add(commit, finding);
  };
  const ofProject = {
    lacks: (one: string) => lacked.lacks(prefix + one),
    hidesLacking: (one: string) => lacked.hidesLacking(prefix + one),
  };
  for (const { commit, path } of findLeftOutChanges(received, ofProject)) add(commit, leftOutFinding(path));
  const commits = readCommitChanges(received);
  for (const one of commits) await judgeOne(judge, one);
  for (const [commit, findings] of rawLfsFiles(received, commits)) for (const one of findings) add(commit, one);
  // As an apply of the branch would be judged: next to the project, and with what its own files lead to.
  for (const one of readBranchChanges(received)) {
    const base = one.base === undefined ? undefined : await baseOf(received, one.base);
    using beside = new ChangeJudge({ content, ...(base === undefined ? {} : { base }) });
    await judgeOne(beside, one);
  }
  for (const [commit, message] of readMessages(received)) {
    const finding = judgeMessage(message);
    if (finding !== undefined) add(commit, finding, false);
    for (const one of maskedIn(message, 'commit-message', 'message')) add(commit, one, false);
  }
  for (const { branch, commit } of received.branches) {
    const finding = judgeBranchName(branch);
    if (finding !== undefined) add(commit, finding, false);
    for (const one of maskedIn(branch, 'branch-name', 'branch')) add(commit, one, false);
  }
  return found.sort(bySeverity);
}

async function baseOf({ repository, project }: ReceivedCommits, base: string): Promise<OwnContent['base']> {
  const config = await repositoryConfig(openGitObjects(project));
  return readCommitBase(openGitObjects(repository), base, config);
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

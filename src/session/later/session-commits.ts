import { RunClaudeError, usageError } from '../../core/errors.ts';
import type { Policy } from '../../core/types/policy.ts';
import type { MadeCommits, SessionRecord } from '../../core/types/session.ts';
import { isOnBranch } from '../../review/choices/file-progress.ts';
import {
  auditCommitsOfSession,
  type CommitFinding,
  type CommitsOfSession,
  type RepositoryCommits,
} from '../../review/commits/audit/audit-commits.ts';
import { bundleCommits, listCommits } from '../../review/commits/bundles/bundle-commits.ts';
import type { InsideRequest } from '../../review/commits/bundles/run-inside.ts';
import { type LeftRefs, leftRefs, type ReceivedCommits, receiveCommits } from '../../review/commits/import-commits.ts';
import { NO_LFS, receiveLfsObjects } from '../../review/commits/lfs/objects.ts';
import { readCommits } from '../../review/commits/read-commits.ts';
import { findRepositories, type Repository, withKnownCommits } from '../../review/commits/repositories.ts';
import { boundRepositoryMounts } from '../../workspace/bind/shield-git.ts';
import { lackedFiles } from '../../workspace/view/lacking.ts';
import { reopenWorkspace } from '../../workspace/view/open.ts';
import { maskedInCommits } from '../end/masked-values.ts';
import { insideRequest } from '../end/note-commits.ts';
import { withLayer } from '../record/layer-lock.ts';
import { updateRecord } from '../record/session.ts';
import type { SessionDeps } from '../stage/deps.ts';
import { prepareImage } from '../stage/prepare-image.ts';

const MAX_BUNDLE_BYTES = 256 * 1024 * 1024;
const MAX_TITLES = 3;

/** The commits of a session, by repository: submodules and nested repositories before those that contain them. */
export interface SessionCommits extends CommitsOfSession, Disposable {
  /** What is not brought along. */
  readonly left: readonly LeftRefs[];
}

/**
 * Copies the commits that a session made into repositories of run-claude's, and checks them. The caller disposes the
 * result. `only`: paths of repositories, '.' for the project's own; empty: all. Precondition: the session's agent has ended.
 *
 * @throws {RunClaudeError} LAYER_GONE, NO_REPOSITORY; USAGE for a path that is not of a repository; what bundling and
 * checking throw.
 */
export async function fetchCommits(
  record: SessionRecord,
  deps: SessionDeps,
  only: readonly string[] = [],
): Promise<SessionCommits> {
  const { plan } = record;
  const repositories = findRepositories(plan.project, plan.mode);
  if (repositories.length === 0) {
    throw new RunClaudeError('NO_REPOSITORY', `${plan.project.root} is not a separate repository`, {
      hint: 'Commits come back to the repository that the session was started in (--repo takes a whole one).',
    });
  }
  const wanted = choose(repositories, only);
  const made: RepositoryCommits[] = [];
  const left: LeftRefs[] = [];
  const drop = (): void => {
    for (const { received } of made) received[Symbol.dispose]();
  };
  try {
    await withLayer(record, 'reading its commits', async () => {
      await prepareImage(plan, deps);
      if (record.bound !== undefined) {
        const mounts = boundRepositoryMounts(plan.sessionDir, record.bound);
        return receiveAll({ record, deps, request: insideRequest(record, deps, mounts), made, left }, wanted);
      }
      const { engine, tell } = deps;
      const workspace = await reopenWorkspace({ plan, engine, tell }, record.workspace);
      try {
        return await receiveAll(
          { record, deps, request: insideRequest(record, deps, workspace.mounts), made, left },
          wanted,
        );
      } finally {
        await workspace.close({ keepLayer: true });
      }
    });
  } catch (error) {
    drop();
    throw error;
  }
  return { sessionId: record.plan.sessionId, made, repositories, left, [Symbol.dispose]: drop };
}

interface Receiving {
  readonly record: SessionRecord;
  readonly deps: SessionDeps;
  readonly request: InsideRequest;
  /** Gets what was received, also where a later repository fails: the caller disposes it. */
  readonly made: RepositoryCommits[];
  /** Gets what is not received. */
  readonly left: LeftRefs[];
}

/** The commits of each repository that has some. One container asks all of them, so that the others cost nothing more. */
async function receiveAll(
  { record, deps, request, made, left }: Receiving,
  wanted: readonly Repository[],
): Promise<void> {
  const { sessionId, sessionDir } = record.plan;
  let room = MAX_BUNDLE_BYTES;
  for (const { repository, count, others } of await listCommits(request, withKnownCommits(wanted))) {
    for (const one of leftRefs(repository, others)) left.push(one);
    const bundle = count === 0 ? undefined : await bundleCommits(request, repository, room);
    if (bundle === undefined) continue;
    room -= bundle.length;
    const maxBytes = MAX_BUNDLE_BYTES;
    const received = receiveCommits({ project: repository.place, sessionId, sessionDir, bundle, maxBytes });
    made.push({ repository, received, lfs: NO_LFS });
    if (received.refused.length > 0) left.push({ repository, names: received.refused });
    const lfs = await receiveLfsObjects(request, repository, received, deps.env);
    made.splice(-1, 1, { repository, received, lfs });
  }
}

function choose(repositories: readonly Repository[], only: readonly string[]): readonly Repository[] {
  const names = new Set(only.map((one) => one.replace(/^\.\/|\/+$/g, '')));
  const isNamed = (one: Repository): boolean => names.delete(one.path === '' ? '.' : one.path);
  const found = only.length === 0 ? repositories : repositories.filter(isNamed);
  const [unknown] = only.length === 0 ? [] : names;
  if (unknown === undefined) return found;
  const known = repositories.map(({ path }) => (path === '' ? '.' : path)).join(', ');
  throw usageError(`--only ${unknown}: the session has no repository of that path`, `Its repositories: ${known}`);
}

/** The findings in the commits of a session, by a policy that may allow more than its own. Throws as lackedFiles. */
export function auditSessionCommits(
  commits: SessionCommits,
  { plan, workspace }: SessionRecord,
  policy: Policy,
  signal: AbortSignal,
): Promise<CommitFinding[]> {
  const lacked = lackedFiles(plan, workspace);
  return auditCommitsOfSession(commits, policy, { lacked, masked: maskedInCommits(plan), signal });
}

/**
 * Whether the project has files of the session that are not in a commit that an import brings: those of an apply that was
 * not undone, and those that a bind session changed in place.
 */
export function hasAppliedFiles({ outcome, plan }: SessionRecord): boolean {
  return plan.mode === 'bind' || outcome?.changes.some((one) => one.verdict === 'applied' && !isOnBranch(one)) === true;
}

/** The record with what an import made of the commits of these repositories: by path, undefined for what is as it was. */
export function recordImported(
  record: SessionRecord,
  made: readonly RepositoryCommits[],
  takenOf: (path: string) => MadeCommits['taken'],
): SessionRecord {
  const known = record.commits ?? made.map(({ repository, received }) => commitsOf(repository, received));
  const commits = known.map((one): MadeCommits => {
    const isAsked = made.some(({ repository }) => repository.path === one.repository);
    const taken = isAsked ? takenOf(one.repository) : undefined;
    return taken === undefined ? one : { ...one, taken };
  });
  return updateRecord(record, { commits });
}

/** Of a session whose commits were not listed at its end. */
function commitsOf({ path }: Repository, received: ReceivedCommits): MadeCommits {
  const titles = readCommits(received).map(({ subject }) => subject);
  return { repository: path, count: titles.length, titles: titles.toReversed().slice(0, MAX_TITLES) };
}

import type { Mount } from '../../core/types/engine.ts';
import type { Change } from '../../core/types/entry.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import { listCommits } from '../../review/commits/bundles/bundle-commits.ts';
import type { InsideRequest } from '../../review/commits/bundles/run-inside.ts';
import { findRepositories, type Repository, withKnownCommits } from '../../review/commits/repositories.ts';
import { updateRecord } from '../record/session.ts';
import type { SessionDeps } from '../stage/deps.ts';

/** What a container needs to read the session's repositories, given the mounts that show its workspace. */
export function insideRequest(
  { plan: { sessionId, ownImage, image, user } }: SessionRecord,
  { engine }: SessionDeps,
  mounts: readonly Mount[],
): InsideRequest {
  return { engine, image: ownImage ?? image, sessionId, mounts, user };
}

/**
 * Puts the number and titles of the session's commits on its record, by repository. Where they cannot be read, the record
 * stays as it is: the session's end does not depend on them. `mounts`: they show the session's workspace; undefined where it
 * made no commits. `changes`: what it changed, in copy mode.
 */
export async function noteCommits(
  record: SessionRecord,
  deps: SessionDeps,
  mounts: readonly Mount[] | undefined,
  changes: readonly Change[] = [],
): Promise<SessionRecord> {
  if (mounts === undefined) return updateRecord(record, { commits: [] });
  const { kind } = record.plan.engine;
  // A container of a queue or a cluster may have to wait for its turn.
  if (kind === 'slurm' || kind === 'kubernetes') return record;
  try {
    const { project, mode } = record.plan;
    const repositories = withKnownCommits(findRepositories(project, mode, nestedIn(changes)));
    const listed = await listCommits(insideRequest(record, deps, mounts), repositories);
    const made = listed.filter(({ count }) => count > 0);
    const commits = made.map(({ repository, count, titles }) => ({ repository: repository.path, count, titles }));
    return updateRecord(record, { commits });
  } catch (error) {
    deps.tell({ kind: 'trace', text: `commits: ${(error as Error).message}` });
    return record;
  }
}

/** The user's repositories that have commits of the session, submodules first. Where they were not listed: its own ones. */
export function repositoriesWithCommits({ plan: { project, mode }, commits }: SessionRecord): readonly Repository[] {
  if (commits?.length === 0) return [];
  const listed = new Set(commits?.map(({ repository }) => repository));
  const nested = [...listed].filter((one) => one !== '');
  const found = findRepositories(project, mode, nested);
  return commits === undefined ? found : found.filter(({ path }) => listed.has(path));
}

/** Folders with a `.git` in which something changed, without the project itself. */
function nestedIn(changes: readonly Change[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { path, inGit } of changes) {
    const at = inGit === true ? path.indexOf('/.git/') : -1;
    if (at > 0) found.add(path.slice(0, at));
  }
  return found;
}

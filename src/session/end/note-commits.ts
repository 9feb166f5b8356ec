import { listCommits } from '../../commits/bundle-commits.ts';
import { findRepositories, withKnownCommits } from '../../commits/repositories.ts';
import type { InsideRequest } from '../../commits/run-inside.ts';
import { updateRecord } from '../../record/session.ts';
import type { Mount } from '../../types/engine.ts';
import type { SessionRecord } from '../../types/session.ts';
import type { SessionDeps } from '../start/deps.ts';

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
 * made no commits.
 */
export async function noteCommits(
  record: SessionRecord,
  deps: SessionDeps,
  mounts: readonly Mount[] | undefined,
): Promise<SessionRecord> {
  if (mounts === undefined) return updateRecord(record, { commits: [] });
  const { mountsAnew, keepsOutput } = record.plan.engine;
  // A container of a queue or a cluster may have to wait for its turn.
  if (mountsAnew === true || keepsOutput === true) return record;
  try {
    const { project, mode } = record.plan;
    const repositories = withKnownCommits(findRepositories(project, mode));
    const listed = await listCommits(insideRequest(record, deps, mounts), repositories);
    const made = listed.filter(({ count }) => count > 0);
    const commits = made.map(({ repository, count, titles }) => ({ repository: repository.path, count, titles }));
    return updateRecord(record, { commits });
  } catch (error) {
    deps.tell({ kind: 'trace', text: `commits: ${(error as Error).message}` });
    return record;
  }
}

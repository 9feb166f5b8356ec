import type { Review } from '../../core/types/review.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import { reviewClaude } from '../../review/choices/claude-items.ts';
import { GIT_ROOT, hasCommits } from '../../workspace/bind/commits.ts';
import { boundRepositoryMounts, sessionGit } from '../../workspace/bind/shield-git.ts';
import { type ReaderRoot, startCollector } from '../../workspace/collector/container.ts';
import { collectClaudeData } from '../end/claude-data.ts';
import { noteCommits } from '../end/note-commits.ts';
import { updateRecord, writeCollected } from '../record/session.ts';
import type { SessionDeps } from '../stage/deps.ts';

/** What a bind session left outside the project. */
export interface CollectedOutside {
  /** Says whether the session made commits. */
  readonly record: SessionRecord;
  readonly claude: Review['claude'] | undefined;
}

/**
 * Reads the agent's home (one of `roots`) and its repository with a collector. What it found is on record before
 * anything is shown, without the project's files: those are on the host already. Precondition: the agent has ended.
 */
export async function collectBound(
  record: SessionRecord,
  roots: readonly ReaderRoot[],
  deps: SessionDeps,
  secrets: readonly string[],
): Promise<CollectedOutside> {
  const { plan, bound } = record;
  const git = { kind: 'bind', source: sessionGit(plan.sessionDir), target: '', readonly: true } as const;
  const collector = await startCollector({
    engine: deps.engine,
    sessionId: plan.sessionId,
    image: plan.ownImage ?? plan.image,
    roots: [...roots, ...(bound === undefined ? [] : [{ name: GIT_ROOT, mount: git }])],
    places: {},
    nonces: {},
  });
  try {
    // A repository that cannot be listed is kept, for git to read in a container.
    const commits = bound && (await hasCommits(collector, bound).catch(() => true));
    const claude = await collectClaudeData(record, collector, secrets);
    const nothing = { changes: [], problems: [], withheld: [], baseEntries: 0, findings: [] };
    if (claude !== undefined) writeCollected(plan.sessionDir, { version: 1, ...nothing, claude });
    const review = claude && reviewClaude(claude);
    const isPending = review !== undefined && review.items.length > 0;
    const known = updateRecord(record, {
      stage: isPending ? 'pending' : 'applied',
      ...(bound && { bound: { ...bound, ...(commits !== undefined && { commits }) } }),
    });
    if (bound === undefined) return { record: known, claude: review };
    const mounts = commits === true ? boundRepositoryMounts(plan.sessionDir, bound) : undefined;
    return { record: await noteCommits(known, deps, mounts), claude: review };
  } finally {
    await collector.stop();
  }
}

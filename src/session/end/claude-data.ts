import { homeAgent } from '../../agents/agents.ts';
import { instanceOf, openInstance } from '../../agents/claude/instances/instance.ts';
import { openContentStore } from '../../core/store/content.ts';
import type { RelPath } from '../../core/text/path.ts';
import type { ClaudeData, ClaudeOutcome } from '../../core/types/agent/claude-data.ts';
import type { TreeReader } from '../../core/types/collector.ts';
import type { Choice } from '../../core/types/review.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import { claudePath } from '../../review/choices/claude-items.ts';
import { isApplied } from '../../review/choices/file-progress.ts';
import { readCollected, storeDir, wasCollected } from '../record/session.ts';
import { readStaged } from '../record/staged-claude.ts';
import type { UserDeps } from '../stage/deps.ts';

/**
 * Freezes Claude's data of the session in its store. Returns its changes; undefined when nothing was staged. `secrets` are
 * credentials that were inside: no file that holds one comes back. Precondition: the agent has ended.
 */
export async function collectClaudeData(
  { plan }: SessionRecord,
  reader: TreeReader,
  secrets: readonly string[] = [],
): Promise<ClaudeData | undefined> {
  const baseline = readStaged(plan.sessionDir);
  if (baseline === undefined) return undefined;
  const { collect } = await homeAgent(plan.program).loadData();
  return collect({
    reader,
    root: 'home',
    baseline,
    sessionId: plan.sessionId,
    store: openContentStore(storeDir(plan.sessionDir)),
    syncBack: plan.policy.syncBack && !plan.policy.isolateClaudeData,
    secrets,
  });
}

/**
 * Brings clean files of Claude's data, and the suspect ones in `accepted`, back into the project's instance. Returns what
 * became of each; a dry run writes nothing. A second call changes nothing. Throws what the agent's `apply` and openInstance
 * throw.
 */
export async function bringClaudeBack(
  { plan }: SessionRecord,
  accepted: readonly RelPath[],
  deps: UserDeps,
  dryRun = false,
): Promise<readonly ClaudeOutcome[]> {
  const { claude } = readCollected(plan.sessionDir);
  if (claude === undefined || claude.changes.length === 0) return [];
  const { root, gitCommonDir } = plan.project;
  const instance = await (dryRun ? instanceOf : openInstance)(deps.host.dataDir, root, gitCommonDir);
  const store = openContentStore(storeDir(plan.sessionDir));
  const isAccepted = new Set<string>(accepted);
  const { apply } = await homeAgent(plan.program).loadData();
  return apply(claude, store, instance, { accepted: (name) => isAccepted.has(claudePath(name)), dryRun });
}

/**
 * {@link bringClaudeBack} with what was accepted by name in a choice. A suspect that an earlier apply brought is 'same'.
 */
export async function bringChosenBack(
  record: SessionRecord,
  { claude: accepted = [] }: Choice,
  deps: UserDeps,
  dryRun: boolean,
): Promise<readonly ClaudeOutcome[]> {
  const before = new Set(record.outcome?.claude?.filter(isApplied).map(({ path }) => path));
  return (await bringClaudeBack(record, accepted, deps, dryRun)).map((one) =>
    one.verdict === 'suspect' && before.has(one.path) ? { ...one, verdict: 'same' as const } : one,
  );
}

/** Id of the conversation that the session wrote to last; undefined where none was collected. */
export function lastConversation({ plan }: SessionRecord): string | undefined {
  return wasCollected(plan.sessionDir) ? readCollected(plan.sessionDir).claude?.conversation : undefined;
}

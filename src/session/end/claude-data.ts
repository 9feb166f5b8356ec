import { homeAgent } from '../../agent/agents.ts';
import { openInstance } from '../../claude/instances/instance.ts';
import { readCollected, storeDir, wasCollected } from '../../record/session.ts';
import { readStaged } from '../../record/staged-claude.ts';
import { claudePath } from '../../review/claude-items.ts';
import { openContentStore } from '../../store/content.ts';
import type { RelPath } from '../../text/path.ts';
import type { ClaudeData, ClaudeOutcome } from '../../types/claude-data.ts';
import type { TreeReader } from '../../types/collector.ts';
import type { Review } from '../../types/review.ts';
import type { SessionRecord } from '../../types/session.ts';
import type { PersonDeps } from '../start/deps.ts';

/**
 * What the session left of Claude's data, frozen in its store; undefined when nothing was staged. Precondition: the
 * agent has ended. `secrets` are credentials that were inside: nothing that holds one comes back.
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
 * Brings what is clean, and the suspects that were accepted by name, into the project's instance. Doing it twice
 * changes nothing. Throws what the agent's `apply` and openInstance throw.
 */
export async function bringClaudeBack(
  { plan }: SessionRecord,
  accepted: readonly RelPath[],
  deps: PersonDeps,
): Promise<readonly ClaudeOutcome[]> {
  const { claude } = readCollected(plan.sessionDir);
  if (claude === undefined || claude.changes.length === 0) return [];
  const { root, gitCommonDir } = plan.project;
  const instance = await openInstance(deps.host.dataDir, root, gitCommonDir);
  const store = openContentStore(storeDir(plan.sessionDir));
  const yes = new Set<string>(accepted);
  const { apply } = await homeAgent(plan.program).loadData();
  return apply(claude, store, instance, (name) => yes.has(claudePath(name)));
}

/** Id of the conversation that the session wrote to last; undefined where none was collected. */
export function lastConversation({ plan }: SessionRecord): string | undefined {
  return wasCollected(plan.sessionDir) ? readCollected(plan.sessionDir).claude?.conversation : undefined;
}

/** What of Claude's data needs a yes of its own. */
export function claudeWaiting(review: Review): number {
  return (review.claude?.items ?? []).filter(({ state }) => state === 'suspect').length;
}

/** What the session did to Claude's data and never comes back. */
export function claudeHeldBack({ claude }: Review): number {
  const findings = [...(claude?.items ?? []).flatMap((item) => item.findings), ...(claude?.general ?? [])];
  return findings.filter(({ severity }) => severity === 'blocked').length;
}

import type { Container } from '../../core/types/engine.ts';
import type { Plan } from '../../core/types/plan.ts';
import { planOfFolder } from '../plan/plan-run.ts';
import { sessionDecoys } from '../record/secrets/home-decoys.ts';
import type { CleanupStack } from './cleanup-stack.ts';
import type { SessionDeps } from './deps.ts';
import { type AgentView, type OpenView, type Staged, stage } from './stage.ts';

/**
 * The agent's container and everything that it needs, created and not started. What was made is kept in `cleanup`.
 * Precondition: the plan's image exists. Throws what its parts throw, and Interrupted between them: then no agent ever
 * runs.
 */
export async function createAgent<V extends AgentView>(
  plan: Plan,
  deps: SessionDeps,
  cleanup: CleanupStack,
  openView: OpenView<V>,
): Promise<{ readonly staged: Staged<V>; readonly agent: Container }> {
  const { signal } = deps.interruption;
  const staged = await stage(plan, deps, cleanup, openView);
  signal.throwIfAborted();
  const folders = (plan.also ?? []).map((folder) => planOfFolder(plan, folder));
  staged.gateway.setDecoys([plan, ...folders].flatMap(({ sessionDir }) => sessionDecoys(sessionDir)));
  const agent = cleanup.use(await deps.engine.create(staged.agent), (container) => container.remove());
  signal.throwIfAborted();
  return { staged, agent };
}

import type { ReaderRoot } from '../../collector/container.ts';
import type { Container, Mount } from '../../types/engine.ts';
import type { Plan } from '../../types/plan.ts';
import type { SessionDeps } from './deps.ts';
import type { Scope } from './scope.ts';
import { type Staged, stage } from './stage.ts';

/**
 * All that the agent's container stands on, and the container itself, made and not started. What was made is kept in
 * `scope`. Precondition: the plan's image is there. Throws what its parts throw, and Interrupted between them: then no
 * agent ever runs.
 */
export async function startAgent<W extends { readonly mounts: readonly Mount[] }>(
  plan: Plan,
  deps: SessionDeps,
  scope: Scope,
  openIt: (roots: readonly ReaderRoot[], scope: Pick<Scope, 'use'>) => Promise<W>,
): Promise<{ readonly staged: Staged<W>; readonly agent: Container }> {
  const { signal } = deps.interruption;
  const staged = await stage(plan, deps, scope, openIt);
  signal.throwIfAborted();
  const agent = scope.use(await deps.engine.create(staged.agent), (container) => container.remove());
  signal.throwIfAborted();
  return { staged, agent };
}

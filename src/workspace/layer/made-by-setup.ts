import type { Plan } from '../../core/types/plan.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import { partDirectory } from '../../environment/setup/place.ts';

/**
 * The tree that the plan's setup made in the project, as lowest layer of an overlay: what the project has itself wins.
 * Empty for a plan without one.
 *
 * @throws {RunClaudeError} ENVIRONMENT_MISSING
 */
export async function madeBySetup(engine: Runtime, plan: Plan): Promise<readonly string[]> {
  return plan.environment === undefined ? [] : [await partDirectory(engine, plan.environment, 'workspace', plan)];
}

import { partDirectory } from '../environment/place.ts';
import type { Engine } from '../types/engine.ts';
import type { Plan } from '../types/plan.ts';

/**
 * The tree that the plan's setup made in the project, as lowest layer of an overlay: what the project has itself wins.
 * Empty for a plan without one.
 *
 * @throws {RunClaudeError} ENVIRONMENT_MISSING
 */
export async function madeBySetup(engine: Engine, plan: Plan): Promise<readonly string[]> {
  return plan.environment === undefined ? [] : [await partDirectory(engine, plan.environment, 'workspace', plan)];
}

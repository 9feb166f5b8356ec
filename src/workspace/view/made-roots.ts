import type { Plan } from '../../core/types/plan.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import { partMount } from '../../environment/setup/place.ts';
import type { ReaderRoot } from '../collector/container.ts';
import { MADE_ROOT } from './made-output.ts';

/** What the plan's setup made in the project, as a root of the collector; none for a plan without a setup. */
export function madeRoots(engine: Pick<Runtime, 'facts'>, plan: Plan): readonly ReaderRoot[] {
  const { environment } = plan;
  if (environment === undefined) return [];
  return [{ name: MADE_ROOT, mount: partMount(engine.facts, environment, 'workspace', plan, '') }];
}

/** Which changes of the plan's session are output that stays behind. */
export function watchedBy({ policy, environment }: Plan) {
  return { includeIgnored: policy.includeIgnored, hasSetup: environment !== undefined };
}

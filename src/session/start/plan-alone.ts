import type { RunClaudeError } from '../../core/errors.ts';
import type { Plan } from '../../core/types/plan.ts';
import { requestRefused } from '../plan/requests.ts';
import { newSessionId } from '../record/find/id.ts';
import type { ImageDeps } from '../stage/prepare-image.ts';
import { serviceImages } from '../stage/prepare-image.ts';
import { agreedBefore } from './agree-request.ts';
import { makePlan } from './make-plan.ts';
import type { RunSetup } from './set-up-run.ts';

/** A plan that is only shown. */
export interface ShownPlan {
  readonly plan: Plan;
  /** Images of the plan's services, by their names. */
  readonly serviceImages: ReadonlyMap<string, string>;
  /** What the project asks for and is not in the plan, and how a start would end there; undefined: nothing. */
  readonly unapproved: { readonly lines: readonly string[]; readonly refusal: RunClaudeError } | undefined;
}

/**
 * The plan that a start of the setup would make now, as far as that is known without starting or writing anything. Throws
 * as makePlan does.
 */
export async function planAlone(asked: RunSetup, deps: Omit<ImageDeps, 'engine' | 'host'>): Promise<ShownPlan> {
  const { setup, unapproved } = agreedBefore(asked);
  const { input, request } = setup;
  const all = { ...deps, engine: setup.engine, host: input.host };
  const newId = (): string => newSessionId(Date.now());
  const { plan } = await makePlan(input, newId, all, false);
  return {
    plan,
    serviceImages: await serviceImages(plan, all),
    unapproved: request && { lines: unapproved, refusal: requestRefused(request) },
  };
}

import type { Plan } from '../../core/types/plan.ts';

/** What a session may have next to agent, gateway and collector. */
export type PlannedParts = Pick<Plan, 'policy' | 'also'>;

/** A plan without what run-claude itself makes or serves while a session runs, which no form renders. */
export function withoutParts<P extends PlannedParts>(plan: P): P {
  const { policy } = plan;
  return {
    ...plan,
    policy: {
      ...policy,
      environment: policy.environment && { ...policy.environment, setup: undefined },
      services: undefined,
      mcpPrograms: undefined,
      caches: undefined,
      ports: undefined,
      also: undefined,
    },
    also: undefined,
  };
}

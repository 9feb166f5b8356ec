import type { Plan } from '../types/plan.ts';

/** What stands for a value that is not shown. */
export const MASKED = '•••';

/** The plan without the values of variables that `--env` passed in: for every print and every record. */
export function maskPlan(plan: Plan): Plan {
  const names = Object.keys(plan.policy.env);
  const masked = Object.fromEntries(names.map((name) => [name, MASKED]));
  return { ...plan, policy: { ...plan.policy, env: masked }, env: { ...plan.env, ...masked } };
}

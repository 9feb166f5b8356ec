import type { Plan } from '../types/plan.ts';

/** The text in place of a masked value. */
export const MASKED = '•••';

/** The plan without the values of `--env`, for output and records. */
export function maskPlan(plan: Plan): Plan {
  const names = Object.keys(plan.policy.env);
  const masked = Object.fromEntries(names.map((name) => [name, MASKED]));
  return { ...plan, policy: { ...plan.policy, env: masked }, env: { ...plan.env, ...masked } };
}

/**
 * A recorded plan for another run. Masked variables get their values from `environment`; those that it lacks are left out,
 * and are in `missing`.
 */
export function restoreVariables(
  plan: Plan,
  environment: Readonly<Record<string, string | undefined>>,
): { readonly plan: Plan; readonly missing: readonly string[] } {
  const names = Object.keys(plan.policy.env).filter((name) => plan.policy.env[name] === MASKED);
  const missing = names.filter((name) => environment[name] === undefined);
  const values = Object.fromEntries(
    names.filter((name) => !missing.includes(name)).map((name) => [name, environment[name] ?? '']),
  );
  const fill = (env: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries({ ...env, ...values }).filter(([name]) => !missing.includes(name)));
  return { plan: { ...plan, env: fill(plan.env), policy: { ...plan.policy, env: fill(plan.policy.env) } }, missing };
}

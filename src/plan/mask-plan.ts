import type { Plan } from '../types/plan.ts';

/** What stands for a value that is not shown. */
export const MASKED = '•••';

/** The plan without the values of variables that `--env` passed in: for every print and every record. */
export function maskPlan(plan: Plan): Plan {
  const names = Object.keys(plan.policy.env);
  const masked = Object.fromEntries(names.map((name) => [name, MASKED]));
  return { ...plan, policy: { ...plan.policy, env: masked }, env: { ...plan.env, ...masked } };
}

/**
 * A recorded plan for another run: variables whose values were not kept are taken from the environment of the person
 * who runs it; those that are not there are left out and named.
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

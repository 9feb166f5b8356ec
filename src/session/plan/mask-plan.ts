import { ownValue } from '../../core/text/own-value.ts';
import type { Plan } from '../../core/types/plan.ts';

/** The text in place of a masked value. */
export const MASKED = '•••';

/** The plan without the values of `--env`, for output and records. */
export function maskPlan(plan: Plan): Plan {
  const names = Object.keys(plan.policy.env);
  const masked = Object.fromEntries(names.map((name) => [name, MASKED]));
  return { ...plan, policy: { ...plan.policy, env: masked }, env: { ...plan.env, ...masked } };
}

/** Values for a recorded plan, and the names that have none: of `--env`, and of files. */
export interface RestoredPlan {
  readonly plan: Plan;
  readonly missing: readonly string[];
  readonly missingOfFiles: readonly string[];
}

/**
 * A recorded plan for another run. Masked variables of `--env` get their values from `environment`, and those of files
 * only from `fileValues`: this process may have another variable of that name. Those without a value are left out.
 */
export function restoreVariables(
  plan: Plan,
  environment: Readonly<Record<string, string | undefined>>,
  fileValues: Readonly<Record<string, string>> = {},
): RestoredPlan {
  const { policy } = plan;
  const names = Object.keys(policy.env).filter((name) => policy.env[name] === MASKED);
  // An earlier release recorded files without the names.
  const isAnyOfFiles = policy.envFileNames === undefined && (policy.envFiles ?? []).length > 0;
  const isOfFiles = (name: string): boolean => isAnyOfFiles || policy.envFileNames?.includes(name) === true;
  const restored = (name: string): string | undefined => {
    const values = isOfFiles(name) ? fileValues : environment;
    return ownValue(values, name);
  };
  const lacking = names.filter((name) => restored(name) === undefined);
  const values = Object.fromEntries(
    names.filter((name) => !lacking.includes(name)).map((name) => [name, restored(name) ?? '']),
  );
  const fill = (env: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries({ ...env, ...values }).filter(([name]) => !lacking.includes(name)));
  return {
    plan: { ...plan, env: fill(plan.env), policy: { ...policy, env: fill(policy.env) } },
    missing: lacking.filter((name) => !isOfFiles(name)),
    missingOfFiles: lacking.filter(isOfFiles),
  };
}

import { DEFAULTS } from '../../core/config/settings.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { Policy } from '../../core/types/policy.ts';

/**
 * The policy of a setup: the defaults, and of the session's policy only what is named here. A new setting reaches a setup
 * only when it is added.
 */
export function setupPolicy(policy: Policy): Policy {
  return {
    ...DEFAULTS,
    mode: policy.mode,
    engine: policy.engine,
    runtime: policy.runtime,
    image: policy.image,
    toolchain: policy.toolchain,
    claudeVersion: policy.claudeVersion,
    environment: policy.environment,
    memoryMb: policy.memoryMb,
    cpus: policy.cpus,
    pids: policy.pids,
    tmpMb: policy.tmpMb,
    diskMb: policy.diskMb,
    network: policy.network === 'none' ? 'none' : 'gateway',
    networkPresets: policy.networkPresets,
    credentials: 'none',
  };
}

/** The session's plan with nothing of the user's in it, for a setup with these words and its network log in `dir`. */
export function setupPlan(plan: Plan, argv: readonly string[], dir: string): Plan {
  const { policy } = plan;
  const isUsers = (name: string): boolean => Object.hasOwn(policy.env, name);
  const env = Object.fromEntries(Object.entries(plan.env).filter(([name]) => !isUsers(name)));
  return {
    ...plan,
    also: undefined,
    sessionDir: dir,
    tty: false,
    program: { kind: 'exec', argv },
    env: { ...env, ...policy.environment?.env },
    policy: setupPolicy(policy),
  };
}

import { addressImage } from '../image/ensure.ts';
import type { Engine } from '../types/engine.ts';
import type { Policy } from '../types/policy.ts';

/** The image that a session would run on, built or not: nothing is built for it. */
export function imageTag(policy: Policy, engine: Engine, env: NodeJS.ProcessEnv): string {
  return policy.image ?? addressImage(engine, { env, toolchain: policy.toolchain }).tag;
}

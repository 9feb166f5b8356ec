import type { Policy } from '../types/policy.ts';

/** The image that a session would run on, for people: nothing is built for it. */
export async function imageTag(policy: Policy): Promise<string> {
  return policy.image ?? 'run-claude:built-on-first-use';
}

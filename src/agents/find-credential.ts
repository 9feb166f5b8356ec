import type { CredentialSource } from '../core/types/credential.ts';
import type { HostFacts, Plan } from '../core/types/plan.ts';
import { homeAgent } from './agents.ts';

/**
 * The user's credential for a session; undefined where the policy wants none or this host has none. Nothing is refreshed,
 * and no helper program runs, before the credential is used.
 *
 * @throws {RunClaudeError} CREDENTIAL_UNREADABLE
 */
export async function findCredential(
  { program, policy }: Pick<Plan, 'program' | 'policy'>,
  host: Pick<HostFacts, 'home' | 'platform'>,
  env: NodeJS.ProcessEnv,
): Promise<CredentialSource | undefined> {
  if (policy.credentials === 'none') return undefined;
  const { find } = await homeAgent(program).loadCredentials();
  return find({ env, home: host.home, platform: host.platform });
}

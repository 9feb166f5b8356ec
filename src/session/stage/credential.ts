import { homeAgent } from '../../agents/agents.ts';
import { usageError } from '../../core/errors.ts';
import type { CredentialSource } from '../../core/types/agent/credential.ts';
import type { HostFacts, Plan } from '../../core/types/plan.ts';

/** The user's credential for a session; undefined where the policy wants none or this host has none. */
export type CredentialLookup = (session: Pick<Plan, 'program' | 'policy'>) => Promise<CredentialSource | undefined>;

/**
 * A lookup for one session: it searches the host when it is first called, and gives the same source from then on. A
 * source reads its token again each time that it is used, so a login that the host refreshes later is seen.
 */
export function credentialLookup(
  env: Readonly<Record<string, string | undefined>>,
  host: Pick<HostFacts, 'home' | 'platform'>,
): CredentialLookup {
  let found: ReturnType<CredentialLookup> | undefined;
  return (session) => (found ??= findOnHost(session, host, env));
}

/**
 * The user's credential for a session; undefined where the policy wants none or this host has none. Nothing is refreshed,
 * and no helper program runs, before the credential is used.
 *
 * @throws {RunClaudeError} CREDENTIAL_UNREADABLE
 */
async function findOnHost(
  { program, policy }: Pick<Plan, 'program' | 'policy'>,
  host: Pick<HostFacts, 'home' | 'platform'>,
  env: Readonly<Record<string, string | undefined>>,
): Promise<CredentialSource | undefined> {
  if (policy.credentials === 'none') return undefined;
  const { find } = await homeAgent(program).loadCredentials();
  return find({ env, home: host.home, platform: host.platform });
}

/**
 * The user's credential, refreshed where the policy asks for it; undefined where there is none, or with
 * `--credentials none`.
 *
 * @throws {RunClaudeError} USAGE where the policy cannot be met with it; what finding and refreshing throw.
 */
export async function credentialForSession(
  plan: Plan,
  { findCredential: find }: { readonly findCredential: CredentialLookup },
): Promise<CredentialSource | undefined> {
  const { policy } = plan;
  if (policy.credentials === 'none') return undefined;
  const found = await find(plan);
  await refuseAsFile(plan, found);
  if (policy.freshCreds && found?.fixed !== true) await found?.refresh();
  return found;
}

/**
 * Refuses a credential that cannot be a file inside. Before the start, so that such an option makes no session.
 *
 * @throws {RunClaudeError} USAGE with --credentials=file
 */
export async function refuseAsFile(
  { policy, program }: Pick<Plan, 'policy' | 'program'>,
  found: CredentialSource | undefined,
): Promise<void> {
  if (policy.credentials !== 'file') return;
  const { title, loadCredentials } = homeAgent(program);
  if ((await loadCredentials()).asFile === undefined)
    throw usageError(`--credentials=file: not with ${title}`, 'Leave it out: the broker keeps the credential outside.');
  if (found?.cloud !== undefined)
    throw usageError(
      `--credentials=file: not with ${found.name}`,
      'The broker signs for Bedrock and Vertex AI. To hand cloud keys to the agent: --credentials=none --env NAME --allow-host HOST.',
    );
}

import type { Agent } from '../../agents/agent.ts';
import { describeCredential } from '../../agents/claude/credentials/credentials.ts';
import type { CredentialSource } from '../../core/types/credential.ts';
import type { Policy } from '../../core/types/policy.ts';

/** The credential's source, for the start screen. */
export function credentialText(
  source: CredentialSource | undefined,
  { credentials }: Pick<Policy, 'credentials'>,
  agent: Agent,
): string {
  if (credentials === 'none' || (source === undefined && agent.loginHint === undefined)) return 'none';
  return source === undefined
    ? `none found. ${agent.loginHint}.`
    : `${describeCredential(source, Date.now())}, ${credentials}`;
}

import { agentOf } from '../../agents/agents.ts';
import { RunClaudeError } from '../../core/errors.ts';
import type { CredentialSource } from '../../core/types/credential.ts';
import type { Program } from '../../core/types/plan.ts';
import type { Policy } from '../../core/types/policy.ts';

/** Whether the session has no credential that it should have. A shell or another command works without one. */
export function isLoginMissing(
  source: CredentialSource | undefined,
  { credentials }: Pick<Policy, 'credentials'>,
): boolean {
  return source === undefined && credentials !== 'none';
}

/**
 * Without a login an agent ends at its first request: reported before an image is built for it.
 *
 * @throws {RunClaudeError} CREDENTIAL_MISSING where the program is an agent that needs a login
 */
export function requireLogin(
  program: Program,
  policy: Pick<Policy, 'credentials'>,
  source: CredentialSource | undefined,
): void {
  const agent = agentOf(program);
  if (!isLoginMissing(source, policy) || agent?.loginHint === undefined) return;
  throw new RunClaudeError('CREDENTIAL_MISSING', `there is no login for ${agent.title} on this machine`, {
    hint: `${agent.loginHint}. To start without a login: --credentials none`,
  });
}

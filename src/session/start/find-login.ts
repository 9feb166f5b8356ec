import { agentOf } from '../../agents/agents.ts';
import { describeCredential } from '../../agents/claude/credentials/credentials.ts';
import { RunClaudeError } from '../../core/errors.ts';
import type { CredentialSource } from '../../core/types/agent/credential.ts';
import type { HostFacts, Plan } from '../../core/types/plan.ts';
import { requireWayOut } from '../../network/gateway/upstream.ts';
import { type CredentialLookup, credentialLookup, refuseAsFile } from '../stage/credential.ts';
import type { SessionDeps } from '../stage/deps.ts';

type LoginOf = Pick<Plan, 'program' | 'policy'>;

/** The credential that a session gets, before the session exists. */
export interface FoundLogin {
  /** Undefined: the policy wants none, or this host has none. */
  readonly source: CredentialSource | undefined;
  /** For the start screen and `--dry-run`: the source, never the value; undefined where neither mentions it. */
  readonly words: string | undefined;
  /** Gives the same source: the host is searched once. */
  readonly findCredential: CredentialLookup;
}

/** Throws as findCredential does. */
export async function findLogin(
  session: LoginOf,
  env: SessionDeps['env'],
  host: Pick<HostFacts, 'home' | 'platform'>,
): Promise<FoundLogin> {
  const findCredential = credentialLookup(env, host);
  const source = await findCredential(session);
  return { source, words: credentialWords(session, source), findCredential };
}

/**
 * Without a login or a way to the provider, an agent ends at its first request: reported before an image is built for it, and before the user is
 * asked for anything.
 *
 * @throws {RunClaudeError} as requireWayOut; CREDENTIAL_MISSING where the program is an agent that needs a login; USAGE for one that cannot be
 * a file inside, where the policy asks for that
 */
export async function requireLogin(
  session: LoginOf,
  source: CredentialSource | undefined,
  env: SessionDeps['env'],
): Promise<void> {
  const { program, policy } = session;
  if (policy.network === 'gateway') requireWayOut(env, source?.cloud);
  const agent = agentOf(program);
  if (source === undefined && policy.credentials !== 'none' && agent?.loginHint !== undefined)
    throw new RunClaudeError('CREDENTIAL_MISSING', `there is no login for ${agent.title} on this machine`, {
      hint: `${agent.loginHint}. To start without a login: --credentials none`,
    });
  await refuseAsFile(session, source);
}

/** A shell or another command works without a login: no line says how to log in. */
function credentialWords({ program, policy: { credentials } }: LoginOf, source: CredentialSource | undefined) {
  if (credentials === 'none') return 'none';
  if (source !== undefined) return `${describeCredential(source, Date.now())}, ${credentials}`;
  const hint = agentOf(program)?.loginHint;
  return hint === undefined ? undefined : `none found. ${hint}.`;
}

import { RunClaudeError } from '../../core/errors.ts';
import { type RunProgram, runProgram } from '../../core/host/processes/run-program.ts';
import type { CredentialSource } from '../../core/types/agent/credential.ts';
import { fixedKey, textOf } from './token-login.ts';

const COPILOT_URL = 'https://api.githubcopilot.com';
/** In the order in which Copilot CLI reads them. */
const VARIABLES = ['COPILOT_GITHUB_TOKEN', 'GH_TOKEN', 'GITHUB_TOKEN'] as const;
const GH = ['gh', 'auth', 'token', '--hostname', 'github.com'];

/**
 * The GitHub token that Copilot CLI on this host would use: of a variable, or of `gh auth login`. What its own login stores
 * in the system's keychain is not read. Copilot CLI 1.0 sends the token itself to the provider, and exchanges it for no
 * other. Undefined when there is none.
 */
export async function findCopilotCredential({
  env,
  run = runProgram,
}: {
  readonly env: NodeJS.ProcessEnv;
  readonly run?: RunProgram;
}): Promise<CredentialSource | undefined> {
  const url = (textOf(env['COPILOT_API_URL']) ?? COPILOT_URL).replace(/\/$/, '');
  const api = { kind: 'copilot' } as const;
  for (const name of VARIABLES) {
    const value = textOf(env[name]?.trim());
    if (value !== undefined) return fixedKey(name, value, url, api);
  }
  const ask = async (): Promise<string | undefined> => {
    const { status, stdout } = await run(GH, { env });
    return status === 0 ? textOf(stdout.trim()) : undefined;
  };
  if ((await ask()) === undefined) return undefined;
  let handedOut: string | undefined;
  const next = async (spent: string | undefined) => {
    const value = await ask();
    if (value === undefined || value === spent) throw expired(value !== undefined);
    handedOut = value;
    return { kind: 'oauth', value } as const;
  };
  return {
    name: 'gh auth login',
    kind: 'oauth',
    cloud: { url, api },
    current: () => next(undefined),
    // The user may have logged in anew.
    refresh: () => next(handedOut),
  };
}

function expired(isRefused: boolean): RunClaudeError {
  const why = isRefused ? 'the provider refused the token of gh auth login' : 'gh auth token prints no token any more';
  return new RunClaudeError('CREDENTIAL_EXPIRED', why, { hint: 'To log in again: gh auth login.' });
}

import { join } from 'node:path';
import type { CredentialSource } from '../../core/types/agent/credential.ts';
import type { OwnAgent, OwnProvider } from '../../core/types/agent/own-agent.ts';
import type { StagedClaude } from '../claude/stage/stage.ts';
import { type AgentStageOptions, stageHome } from './stage-agent.ts';
import { fixedKey, textOf } from './token-login.ts';

/** Finds the key of an agent's provider in the variable that its table names. */
export function keyFinder(
  provider: OwnProvider | undefined,
): (places: { readonly env: NodeJS.ProcessEnv }) => Promise<CredentialSource | undefined> {
  return async ({ env }) => {
    const value = provider === undefined ? undefined : textOf(env[provider.key]?.trim());
    if (provider === undefined || value === undefined) return undefined;
    return fixedKey(provider.key, value, provider.url.replace(/\/$/, ''), { kind: provider.api });
  };
}

/**
 * A copy of what the agent's table names of the user's home, with the note about the sandbox.
 *
 * @throws {RunClaudeError} INSTANCE_FOREIGN
 */
export async function stageOwn(
  { copy, instructions }: Pick<OwnAgent, 'copy' | 'instructions'>,
  options: Omit<AgentStageOptions, 'from' | 'made' | 'notes'> & { readonly home: string },
): Promise<StagedClaude> {
  const at = (path: string) => ({ from: join(options.home, path), to: path });
  return stageHome(
    {
      instructions: instructions === undefined ? undefined : { ...at(instructions), dir: '' },
      copied: copy.filter((path) => path !== instructions).map(at),
    },
    { ...options, made: {}, notes: [] },
  );
}

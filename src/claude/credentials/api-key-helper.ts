import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RunClaudeError } from '../../errors.ts';
import type { RunProgram } from '../../host/run-program.ts';
import type { CredentialSource, Secret } from '../../types/credential.ts';
import { parseObject } from '../formats/json-object.ts';

/** Claude Code asks its helper again after this long. */
const KEPT_MS = 5 * 60_000;

/** Where an organisation pins settings on this host. */
export function managedSettingsPath(platform: string): string {
  return platform === 'darwin'
    ? '/Library/Application Support/ClaudeCode/managed-settings.json'
    : '/etc/claude-code/managed-settings.json';
}

/**
 * The `apiKeyHelper` of the managed or the user's own settings as a credential. A project's settings are never asked:
 * they come with the repository and would run on the host.
 */
export async function apiKeyHelper(
  where: { readonly configDir: string; readonly managedSettings: string; readonly env: NodeJS.ProcessEnv },
  run: RunProgram,
): Promise<CredentialSource | undefined> {
  for (const path of [where.managedSettings, join(where.configDir, 'settings.json')]) {
    const settings = await readFile(path, 'utf8').then(parseObject, () => undefined);
    const command = settings?.['apiKeyHelper'];
    if (typeof command === 'string' && command.trim() !== '') return helperSource(command, where.env, run);
  }
  return undefined;
}

function helperSource(command: string, env: NodeJS.ProcessEnv, run: RunProgram): CredentialSource {
  let kept: { secret: Secret; untilMs: number } | undefined;
  const ask = async (): Promise<Secret> => {
    const said = await run(['/bin/sh', '-c', command], { env, timeoutMs: 60_000 });
    const value = said.stdout.trim();
    if (said.status !== 0 || value === '' || /[\r\n\0]/.test(value))
      throw new RunClaudeError('CREDENTIAL_HELPER_FAILED', `apiKeyHelper gave no key (status ${said.status})`, {
        hint: 'Run the apiKeyHelper command of your Claude settings by hand and see what it says.',
      });
    kept = { secret: { kind: 'api-key', value }, untilMs: Date.now() + KEPT_MS };
    return kept.secret;
  };
  return {
    name: 'apiKeyHelper',
    kind: 'api-key',
    current: async () => (kept !== undefined && kept.untilMs > Date.now() ? kept.secret : ask()),
    refresh: ask,
  };
}

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RunClaudeError } from '../../../core/errors.ts';
import type { RunProgram } from '../../../core/host/processes/run-program.ts';
import { parseObject } from '../../../core/text/json-in.ts';
import type { CredentialSource, Secret } from '../../../core/types/agent/credential.ts';

/** How long a key is used before the helper runs again, as in Claude Code. */
const KEPT_MS = 5 * 60_000;

/**
 * The `apiKeyHelper` of managed or the user's settings as a credential. A project's settings are never read: they come
 * with the repository, and the helper would run on the host.
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
    const result = await run(['/bin/sh', '-c', command], { env, timeoutMs: 60_000 });
    const value = result.stdout.trim();
    if (result.status !== 0 || value === '' || /[\r\n\0]/.test(value))
      throw new RunClaudeError('CREDENTIAL_HELPER_FAILED', `apiKeyHelper printed no key (status ${result.status})`, {
        hint: 'Run the apiKeyHelper command of your Claude settings by hand and read its output.',
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

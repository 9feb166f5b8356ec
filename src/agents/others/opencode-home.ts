import { join } from 'node:path';
import { asObject, type JsonObject, parseObject } from '../../core/text/json-in.ts';
import type { CredentialSource } from '../../core/types/agent/credential.ts';
import { withoutPlain } from './acting-keys.ts';
import { shownPath } from './codex-login.ts';
import { fixedKey, readJson, textOf } from './token-login.ts';

const ANTHROPIC_URL = 'https://api.anthropic.com';
const OPENAI_URL = 'https://api.openai.com';

/** Providers that a session of opencode can have, in this order: one of them each session. */
const PROVIDERS = [
  { name: 'anthropic', variable: 'ANTHROPIC_API_KEY', base: 'ANTHROPIC_BASE_URL', url: ANTHROPIC_URL },
  { name: 'openai', variable: 'OPENAI_API_KEY', base: 'OPENAI_BASE_URL', url: OPENAI_URL },
] as const;

/** Keys of opencode.json that neither run, redirect nor reveal anything. All others stay on the host. */
const PLAIN_KEYS = new Set('model small_model theme username snapshot'.split(' '));

/** What of an opencode.json is not a plain preference; undefined where it is not an object. */
export function opencodeOthers(text: string): JsonObject | undefined {
  const settings = parseObject(text);
  return settings && withoutPlain(settings, new Set([...PLAIN_KEYS, '$schema']));
}

/** opencode's configuration directory on this host. */
export function opencodeDir(env: NodeJS.ProcessEnv, home: string): string {
  return `${textOf(env['XDG_CONFIG_HOME']) ?? join(home, '.config')}/opencode`;
}

/**
 * The key that opencode on this host would use: of Anthropic or OpenAI, from the environment, then from what `opencode auth
 * login` stored. Its logins by subscription are not used. Undefined when there is none.
 *
 * @throws {RunClaudeError} CREDENTIAL_UNREADABLE
 */
export async function findOpencodeCredential({
  env,
  home,
}: {
  readonly env: NodeJS.ProcessEnv;
  readonly home: string;
}): Promise<CredentialSource | undefined> {
  const file = join(textOf(env['XDG_DATA_HOME']) ?? join(home, '.local/share'), 'opencode/auth.json');
  const stored = await readJson(file, shownPath(file, home));
  for (const { name, variable, base, url } of PROVIDERS) {
    const entry = asObject(stored?.[name]);
    const kept = entry?.['type'] === 'api' ? textOf(entry['key']) : undefined;
    const own = textOf(env[variable]?.trim());
    const value = own ?? kept;
    if (value === undefined) continue;
    const at = (textOf(env[base]) ?? url).replace(/\/(v1\/?)?$/, '');
    return fixedKey(own === undefined ? shownPath(file, home) : variable, value, at, { kind: name });
  }
  return undefined;
}

/** The session's opencode.json, and the names of the user's keys that it does not have. */
export async function opencodeSettings(
  dir: string,
  session: {
    readonly source: CredentialSource | undefined;
    readonly brokerUrl: string | undefined;
    readonly placeholder: string;
    readonly permissions: 'skip' | 'ask';
  },
): Promise<{ readonly text: string; readonly dropped: readonly string[] }> {
  const users = (await readJson(join(dir, 'opencode.json'), '~/.config/opencode/opencode.json')) ?? {};
  const kept = Object.entries(users).filter(([key, value]) => PLAIN_KEYS.has(key) && asObject(value) === undefined);
  const dropped = Object.keys(users).filter((key) => !PLAIN_KEYS.has(key) && key !== '$schema');
  const name = session.source?.cloud?.api.kind === 'openai' ? 'openai' : 'anthropic';
  const options = { baseURL: `${session.brokerUrl}/v1`, apiKey: session.placeholder };
  const settings: JsonObject = {
    ...Object.fromEntries(kept),
    autoupdate: false,
    share: 'disabled',
    permission: session.permissions === 'skip' ? 'allow' : { edit: 'ask', bash: 'ask' },
    // No other provider can be reached.
    enabled_providers: [name],
    ...(session.brokerUrl === undefined ? {} : { provider: { [name]: { options } } }),
  };
  return { text: JSON.stringify(settings, undefined, 2), dropped };
}

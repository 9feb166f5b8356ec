import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { asObject, parseObject } from '../formats/json-object.ts';
import { claudeConfigDir, managedSettingsPath } from './config-places.ts';

/** Variables in settings.json that name the provider or authenticate there. Others are ignored. */
const PROVIDER =
  /^(CLAUDE_CODE_(USE|SKIP)_(BEDROCK|VERTEX|FOUNDRY)(_AUTH)?|CLAUDE_CODE_OAUTH_TOKEN|ANTHROPIC_((BEDROCK_|VERTEX_)?BASE_URL|API_KEY|AUTH_TOKEN|VERTEX_PROJECT_ID|MODEL|SMALL_FAST_MODEL|DEFAULT_(OPUS|SONNET|HAIKU)_MODEL)|AWS_(REGION|DEFAULT_REGION|PROFILE|BEARER_TOKEN_BEDROCK)|CLOUD_ML_REGION|GOOGLE_APPLICATION_CREDENTIALS)$/;

export interface SettingsPlaces {
  readonly home: string;
  readonly platform: NodeJS.Platform;
  /** The settings that an organisation enforces; default their path on this platform. */
  readonly managedSettings?: string;
}

/**
 * The environment with the provider's variables from `env` of the user's settings.json and of managed settings, which
 * override it, as in Claude Code. A project's settings are never read.
 */
export function withSettings(env: NodeJS.ProcessEnv, places: SettingsPlaces): NodeJS.ProcessEnv {
  const own = join(claudeConfigDir(env, places.home), 'settings.json');
  const managed = places.managedSettings ?? managedSettingsPath(places.platform);
  return { ...env, ...providerVariables(own), ...providerVariables(managed) };
}

function providerVariables(file: string): Readonly<Record<string, string>> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    // Most users have no such file. An unreadable one is reported where the credential is read.
    return {};
  }
  const entries = Object.entries(asObject(parseObject(text)?.['env']) ?? {});
  return Object.fromEntries(
    entries.flatMap(([name, value]) => (PROVIDER.test(name) && typeof value === 'string' ? [[name, value]] : [])),
  );
}

import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { asObject, parseObject } from '../../../core/text/json-in.ts';
import { claudeConfigDir, managedSettingsPath } from './config-places.ts';

const CLOUDS = ['BEDROCK', 'VERTEX', 'FOUNDRY'];
const MODELS = ['OPUS', 'SONNET', 'HAIKU'];

/** Variables in settings.json that name the provider or authenticate there. Others are ignored. */
const PROVIDER_VARIABLES: ReadonlySet<string> = new Set([
  ...['ANTHROPIC_BASE_URL', 'ANTHROPIC_BEDROCK_BASE_URL', 'ANTHROPIC_VERTEX_BASE_URL'],
  ...['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN'],
  ...['ANTHROPIC_MODEL', 'ANTHROPIC_SMALL_FAST_MODEL', ...MODELS.map((name) => `ANTHROPIC_DEFAULT_${name}_MODEL`)],
  ...CLOUDS.flatMap((name) => [`CLAUDE_CODE_USE_${name}`, `CLAUDE_CODE_SKIP_${name}_AUTH`]),
  ...['AWS_REGION', 'AWS_DEFAULT_REGION', 'AWS_PROFILE', 'AWS_BEARER_TOKEN_BEDROCK'],
  ...['CLOUD_ML_REGION', 'ANTHROPIC_VERTEX_PROJECT_ID', 'GOOGLE_APPLICATION_CREDENTIALS'],
]);

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
    // A FIFO would keep every command waiting.
    if (!statSync(file).isFile()) return {};
    text = readFileSync(file, 'utf8');
  } catch {
    // Most users have no such file. An unreadable one is reported where the credential is read.
    return {};
  }
  const entries = Object.entries(asObject(parseObject(text)?.['env']) ?? {});
  return Object.fromEntries(
    entries.flatMap(([name, value]) =>
      PROVIDER_VARIABLES.has(name) && typeof value === 'string' ? [[name, value]] : [],
    ),
  );
}

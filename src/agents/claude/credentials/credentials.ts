import { RunClaudeError } from '../../../core/errors.ts';
import { type RunProgram, runProgram } from '../../../core/host/processes/run-program.ts';
import type { CredentialSource, Secret } from '../../../core/types/agent/credential.ts';
import { apiKeyHelper } from './api-key-helper.ts';
import { cloudCredential } from './cloud-credentials.ts';
import { claudeConfigDir, managedSettingsPath } from './config-places.ts';
import { fileStore, keychainService, keychainStore } from './credential-store.ts';
import { storedLogin } from './oauth.ts';

export interface CredentialPlaces {
  readonly env: NodeJS.ProcessEnv;
  readonly home: string;
  /** Claude's configuration directory; default CLAUDE_CONFIG_DIR or ~/.claude. */
  readonly configDir?: string;
  readonly platform: NodeJS.Platform;
  /** Runs `security` and an apiKeyHelper; default the real one. */
  readonly run?: RunProgram;
  /** OAuth token endpoint; default the provider's. */
  readonly endpoint?: string;
  /** The settings that an organisation enforces; default their path on this platform. */
  readonly managedSettings?: string;
  readonly lockWaitMs?: number;
}

const VARIABLES = [
  ['ANTHROPIC_AUTH_TOKEN', 'auth-token'],
  ['ANTHROPIC_API_KEY', 'api-key'],
] as const;

/**
 * The credential that Claude Code on this host would use, in its own order: that of a cloud, ANTHROPIC_AUTH_TOKEN,
 * ANTHROPIC_API_KEY, apiKeyHelper, CLAUDE_CODE_OAUTH_TOKEN, the stored login (macOS: Keychain first). Undefined when
 * there is none. Nothing is run or refreshed before `current()`.
 *
 * @throws {RunClaudeError} CREDENTIAL_UNREADABLE
 */
export async function findCredential(places: CredentialPlaces): Promise<CredentialSource | undefined> {
  const { env, home, platform } = places;
  const run = places.run ?? runProgram;
  const configDir = places.configDir ?? claudeConfigDir(env, home);
  const cloud = cloudCredential({ env, home, run });
  if (cloud !== undefined) return cloud;
  for (const [name, kind] of VARIABLES) {
    const source = fromVariable(env, name, kind);
    if (source !== undefined) return source;
  }
  const managedSettings = places.managedSettings ?? managedSettingsPath(platform);
  const helper = await apiKeyHelper({ configDir, managedSettings, env }, run);
  if (helper !== undefined) return helper;
  const token = fromVariable(env, 'CLAUDE_CODE_OAUTH_TOKEN', 'oauth');
  if (token !== undefined) return token;
  const stores = [fileStore(configDir, shownPath(`${configDir}/.credentials.json`, home))];
  if (platform === 'darwin') {
    const ownDirectory = configDir === `${home}/.claude` ? undefined : configDir.normalize('NFC');
    stores.unshift(keychainStore(keychainService(ownDirectory), run));
  }
  for (const store of stores) {
    const source = await storedLogin(store, {
      configDir,
      env,
      ...(places.endpoint === undefined ? {} : { endpoint: places.endpoint }),
      ...(places.lockWaitMs === undefined ? {} : { lockWaitMs: places.lockWaitMs }),
    });
    if (source !== undefined) return source;
  }
  return undefined;
}

/** A home directory shown as `~`. */
function shownPath(path: string, home: string): string {
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

function fromVariable(env: NodeJS.ProcessEnv, name: string, kind: Secret['kind']): CredentialSource | undefined {
  const value = env[name]?.trim();
  if (value === undefined || value === '') return undefined;
  return {
    name,
    kind,
    fixed: true,
    current: async () => ({ kind, value }),
    refresh: async () => {
      throw new RunClaudeError('CREDENTIAL_EXPIRED', `the provider refused the credential in ${name}`, {
        hint: `Set ${name} to a valid one, or unset it and log in with \`claude\` on the host.`,
      });
    },
  };
}

/** A credential for the user: its source and its expiry, never a part of it. */
export function describeCredential(source: CredentialSource, nowMs: number): string {
  if (source.expiresMs === undefined) return source.name;
  const minutes = Math.round((source.expiresMs - nowMs) / 60_000);
  if (minutes <= 0) return `${source.name} (expired, refreshed before use)`;
  const left =
    minutes < 120
      ? `${minutes} min`
      : minutes < 2880
        ? `${Math.round(minutes / 60)} h`
        : `${Math.round(minutes / 1440)} d`;
  return `${source.name} (expires in ${left})`;
}

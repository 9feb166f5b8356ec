import type { CredentialSource, ProviderApi, Secret } from '../../../core/types/agent/credential.ts';

/** What is inside in place of the credential, by kind: long enough to look real to Claude, of no use anywhere else. */
const PLACEHOLDERS: Readonly<
  Record<Exclude<Secret['kind'], 'aws-keys'>, { readonly variable: string; readonly value: string }>
> = {
  'api-key': { variable: 'ANTHROPIC_API_KEY', value: 'sk-ant-api03-placeholder-of-run-claude-the-real-one-is-outside' },
  oauth: {
    variable: 'CLAUDE_CODE_OAUTH_TOKEN',
    value: 'sk-ant-oat01-placeholder-of-run-claude-the-real-one-is-outside',
  },
  'auth-token': { variable: 'ANTHROPIC_AUTH_TOKEN', value: 'placeholder-of-run-claude-the-real-one-is-outside' },
};

/** AWS keys have no placeholder: with the clouds Claude skips its own authentication. */
function placeholder(kind: Secret['kind'] | undefined): (typeof PLACEHOLDERS)[keyof typeof PLACEHOLDERS] {
  return PLACEHOLDERS[kind === undefined || kind === 'aws-keys' ? 'oauth' : kind];
}

/** The placeholder's value for a credential of that kind. */
export function placeholderOf(kind: Secret['kind'] | undefined): string {
  return placeholder(kind).value;
}

/**
 * The variables that make Claude send its requests to the broker at `url`. Nothing in them is secret. `env` is this
 * process's environment, which holds the user's choice of models for the clouds.
 */
export function brokerVariables(
  source: Pick<CredentialSource, 'kind' | 'cloud'> | undefined,
  url: string,
  env: NodeJS.ProcessEnv,
): Readonly<Record<string, string>> {
  if (source?.cloud !== undefined) return { ...cloudVariables(source.cloud.api, url), ...modelVariables(env) };
  return anthropicVariables(source?.kind, url);
}

function anthropicVariables(kind: Secret['kind'] | undefined, url: string): Readonly<Record<string, string>> {
  const { variable, value } = placeholder(kind);
  return { ANTHROPIC_BASE_URL: url, [variable]: value };
}

function cloudVariables(api: ProviderApi, url: string): Readonly<Record<string, string>> {
  if (api.kind === 'bedrock')
    return {
      CLAUDE_CODE_USE_BEDROCK: '1',
      CLAUDE_CODE_SKIP_BEDROCK_AUTH: '1',
      ANTHROPIC_BEDROCK_BASE_URL: url,
      AWS_REGION: api.region,
    };
  if (api.kind === 'vertex')
    return {
      CLAUDE_CODE_USE_VERTEX: '1',
      CLAUDE_CODE_SKIP_VERTEX_AUTH: '1',
      ANTHROPIC_VERTEX_BASE_URL: url,
      ANTHROPIC_VERTEX_PROJECT_ID: api.project,
      CLOUD_ML_REGION: api.region,
    };
  return anthropicVariables(undefined, url);
}

/** The user's choice of models: plain words only. */
export function modelVariables(env: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  const names = /^ANTHROPIC_(MODEL|SMALL_FAST_MODEL|DEFAULT_(OPUS|SONNET|HAIKU)_MODEL)$/;
  const kept = Object.entries(env).filter(
    ([name, value]) => names.test(name) && /^[A-Za-z0-9][A-Za-z0-9._:@/[\]-]{0,255}$/.test(value ?? ''),
  );
  return Object.fromEntries(kept) as Record<string, string>;
}

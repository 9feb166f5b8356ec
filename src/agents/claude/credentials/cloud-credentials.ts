import { createSign } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RunClaudeError, usageError } from '../../../core/errors.ts';
import { post } from '../../../core/host/https-request.ts';
import type { RunProgram } from '../../../core/host/processes/run-program.ts';
import { type JsonObject, parseObject } from '../../../core/text/json-in.ts';
import type { AwsKeys, CredentialSource, Secret } from '../../../core/types/agent/credential.ts';

/** Where the credentials of clouds are looked for. */
export interface CloudPlaces {
  readonly env: NodeJS.ProcessEnv;
  readonly home: string;
  readonly run: RunProgram;
}

const ASK_MS = 60_000;
const GOOGLE_TOKEN_URL = 'https://oauth2.googleapis.com/token';
const GOOGLE_SCOPE = 'https://www.googleapis.com/auth/cloud-platform';

/**
 * The credential for Amazon Bedrock or Google Vertex AI, where CLAUDE_CODE_USE_BEDROCK or CLAUDE_CODE_USE_VERTEX selects
 * one of them; undefined otherwise. No program runs before `current()`.
 *
 * @throws {RunClaudeError} USAGE for Microsoft Foundry, and for Vertex without a project
 */
export function cloudCredential(places: CloudPlaces): CredentialSource | undefined {
  const { env } = places;
  if (isOn(env['CLAUDE_CODE_USE_BEDROCK'])) return bedrock(places);
  if (isOn(env['CLAUDE_CODE_USE_VERTEX'])) return vertex(places);
  if (isOn(env['CLAUDE_CODE_USE_FOUNDRY']))
    throw usageError(
      'CLAUDE_CODE_USE_FOUNDRY: Microsoft Foundry is not supported',
      'Unset it to use the Anthropic API, or use Bedrock or Vertex AI.',
    );
  return undefined;
}

function isOn(value: string | undefined): boolean {
  return value !== undefined && /^(1|true|yes|on)$/i.test(value.trim());
}

function plainWord(value: string | undefined, name: string): string | undefined {
  if (value === undefined || value === '') return undefined;
  if (!/^[a-z0-9][a-z0-9.:-]{0,62}$/i.test(value)) throw usageError(`${name}: '${value}' is not a plain name`);
  return value;
}

function bedrock({ env, home, run }: CloudPlaces): CredentialSource {
  const region = plainWord(env['AWS_REGION'] || env['AWS_DEFAULT_REGION'], 'AWS_REGION') ?? 'us-east-1';
  const url = env['ANTHROPIC_BEDROCK_BASE_URL'] || `https://bedrock-runtime.${region}.amazonaws.com`;
  const cloud = { url, api: { kind: 'bedrock', region } } as const;
  if (isOn(env['CLAUDE_CODE_SKIP_BEDROCK_AUTH'])) return companyToken(env, 'CLAUDE_CODE_SKIP_BEDROCK_AUTH', cloud);
  const token = env['AWS_BEARER_TOKEN_BEDROCK']?.trim();
  if (token !== undefined && token !== '') {
    const secret: Secret = { kind: 'auth-token', value: token };
    return fixedSource('AWS_BEARER_TOKEN_BEDROCK', secret, cloud);
  }
  const keys = keysOf(env['AWS_ACCESS_KEY_ID'], env['AWS_SECRET_ACCESS_KEY'], env['AWS_SESSION_TOKEN']);
  if (keys !== undefined && !env['AWS_PROFILE'])
    return fixedSource('AWS_ACCESS_KEY_ID', { kind: 'aws-keys', value: JSON.stringify(keys) }, cloud);
  const profile = env['AWS_PROFILE'] || 'default';
  return renewedSource(`AWS profile ${profile}`, 'aws-keys', cloud, async () => {
    const argv = ['aws', 'configure', 'export-credentials', '--format', 'process'];
    const result = await run([...argv, ...(env['AWS_PROFILE'] ? ['--profile', profile] : [])], {
      env,
      timeoutMs: ASK_MS,
    });
    const answer = result.status === 0 ? parseObject(result.stdout) : undefined;
    const found =
      keysOf(answer?.['AccessKeyId'], answer?.['SecretAccessKey'], answer?.['SessionToken']) ??
      keysInFile(await readFile(credentialsFile(env, home), 'utf8').catch(() => ''), profile);
    if (found === undefined)
      throw new RunClaudeError('CREDENTIAL_EXPIRED', `there are no AWS keys for profile ${profile}`, {
        hint: 'Run `aws sso login` or `aws configure` on the host, or set AWS_BEARER_TOKEN_BEDROCK.',
      });
    const expires = Date.parse(String(answer?.['Expiration']));
    return {
      kind: 'aws-keys',
      value: JSON.stringify(found),
      ...(Number.isFinite(expires) ? { expiresMs: expires } : {}),
    };
  });
}

const credentialsFile = (env: NodeJS.ProcessEnv, home: string): string =>
  env['AWS_SHARED_CREDENTIALS_FILE'] || join(home, '.aws', 'credentials');

function keysOf(id: unknown, key: unknown, token: unknown): AwsKeys | undefined {
  const plain = (value: unknown): value is string => typeof value === 'string' && /^[\x21-\x7e]+$/.test(value);
  if (!plain(id) || !plain(key)) return undefined;
  return { accessKeyId: id, secretAccessKey: key, ...(plain(token) ? { sessionToken: token } : {}) };
}

/** The keys in the shared credentials file, for hosts without the AWS command. */
function keysInFile(text: string, profile: string): AwsKeys | undefined {
  const values = new Map<string, string>();
  let inside = false;
  for (const line of text.split(/\r?\n/)) {
    const section = /^\s*\[\s*([^\]]*?)\s*\]/.exec(line)?.[1];
    if (section !== undefined) inside = section === profile;
    const [, name, value] = /^\s*([a-z_]+)\s*=\s*(\S+)\s*$/.exec(line) ?? [];
    if (inside && name !== undefined && value !== undefined) values.set(name, value);
  }
  return keysOf(values.get('aws_access_key_id'), values.get('aws_secret_access_key'), values.get('aws_session_token'));
}

function vertex({ env, home, run }: CloudPlaces): CredentialSource {
  const region = plainWord(env['CLOUD_ML_REGION'], 'CLOUD_ML_REGION') ?? 'us-east5';
  const named = env['ANTHROPIC_VERTEX_PROJECT_ID'] || env['GOOGLE_CLOUD_PROJECT'] || env['GCLOUD_PROJECT'];
  const project = plainWord(named, 'ANTHROPIC_VERTEX_PROJECT_ID');
  if (project === undefined)
    throw usageError('CLAUDE_CODE_USE_VERTEX needs a project', 'Set ANTHROPIC_VERTEX_PROJECT_ID.');
  const url = env['ANTHROPIC_VERTEX_BASE_URL'] || `https://${vertexHost(region)}/v1`;
  const file =
    env['GOOGLE_APPLICATION_CREDENTIALS'] || join(gcloudDir(env, home), 'application_default_credentials.json');
  const cloud = { url, api: { kind: 'vertex', region, project } } as const;
  if (isOn(env['CLAUDE_CODE_SKIP_VERTEX_AUTH'])) return companyToken(env, 'CLAUDE_CODE_SKIP_VERTEX_AUTH', cloud);
  return renewedSource('Google application default credentials', 'auth-token', cloud, async () => {
    const stored = await readFile(file, 'utf8').then(parseObject, () => undefined);
    const own = stored === undefined ? undefined : await googleToken(stored, env);
    if (own !== undefined) return own;
    for (const words of [['auth', 'application-default'], ['auth']]) {
      const result = await run(['gcloud', ...words, 'print-access-token'], { env, timeoutMs: ASK_MS });
      const value = result.stdout.trim();
      if (result.status === 0 && /^[\x21-\x7e]+$/.test(value))
        // Such a token is valid for an hour, of which an unknown part is over.
        return { kind: 'auth-token', value, expiresMs: Date.now() + 20 * 60_000 };
    }
    throw new RunClaudeError('CREDENTIAL_EXPIRED', 'there is no Google login for Vertex AI', {
      hint: 'Run `gcloud auth application-default login` on the host.',
    });
  });
}

const gcloudDir = (env: NodeJS.ProcessEnv, home: string): string =>
  env['CLOUDSDK_CONFIG'] || join(home, '.config', 'gcloud');

function vertexHost(region: string): string {
  if (region === 'global') return 'aiplatform.googleapis.com';
  return region === 'us' || region === 'eu'
    ? `aiplatform.${region}.rep.googleapis.com`
    : `${region}-aiplatform.googleapis.com`;
}

/** An access token for a stored login or the key of a service account; undefined for other kinds, which gcloud reads. */
async function googleToken(stored: JsonObject, env: NodeJS.ProcessEnv): Promise<Secret | undefined> {
  const word = (name: string): string => (typeof stored[name] === 'string' ? stored[name] : '');
  const url = word('token_uri') || GOOGLE_TOKEN_URL;
  if (stored['type'] === 'authorized_user')
    return postForm(
      url,
      {
        grant_type: 'refresh_token',
        client_id: word('client_id'),
        client_secret: word('client_secret'),
        refresh_token: word('refresh_token'),
      },
      env,
    );
  if (stored['type'] !== 'service_account') return undefined;
  const now = Math.floor(Date.now() / 1000);
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claim = { iss: word('client_email'), scope: GOOGLE_SCOPE, aud: url, iat: now, exp: now + 3600 };
  const text = `${part({ alg: 'RS256', typ: 'JWT', kid: word('private_key_id') })}.${part(claim)}`;
  const signature = createSign('RSA-SHA256').update(text).sign(word('private_key'), 'base64url');
  const grant = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
  return postForm(url, { grant_type: grant, assertion: `${text}.${signature}` }, env);
}

async function postForm(url: string, form: Readonly<Record<string, string>>, env: NodeJS.ProcessEnv): Promise<Secret> {
  const failed = (why: string, hint: string): RunClaudeError =>
    new RunClaudeError('CREDENTIAL_EXPIRED', `no Google access token: ${why}`, { hint });
  let status: number;
  let answer: JsonObject | undefined;
  try {
    const body = new URLSearchParams(form).toString();
    const posted = await post(url, { type: 'application/x-www-form-urlencoded', body }, env, ASK_MS);
    status = posted.status;
    answer = parseObject(posted.body);
  } catch (error) {
    throw failed(error instanceof Error ? error.message : 'no answer', 'Check the network connection.');
  }
  const value = answer?.['access_token'];
  if (typeof value !== 'string' || !/^[\x21-\x7e]+$/.test(value))
    throw failed(`status ${status}`, 'Run `gcloud auth application-default login` on the host.');
  const lastsS = typeof answer?.['expires_in'] === 'number' ? answer['expires_in'] : 3600;
  return { kind: 'auth-token', value, expiresMs: Date.now() + lastsS * 1000 };
}

/** A company's own server signs the requests by itself and needs its own token. */
function companyToken(env: NodeJS.ProcessEnv, variable: string, cloud: Cloud): CredentialSource {
  const value = env['ANTHROPIC_AUTH_TOKEN']?.trim();
  if (value === undefined || value === '')
    throw usageError(
      `${variable}: there is no ANTHROPIC_AUTH_TOKEN`,
      'Set it to the token of the server at the base URL.',
    );
  return fixedSource('ANTHROPIC_AUTH_TOKEN', { kind: 'auth-token', value }, cloud);
}

type Cloud = NonNullable<CredentialSource['cloud']>;

function fixedSource(name: string, secret: Secret, cloud: Cloud): CredentialSource {
  return {
    name,
    kind: secret.kind,
    cloud,
    fixed: true,
    current: async () => secret,
    refresh: async () => {
      throw new RunClaudeError('CREDENTIAL_EXPIRED', `the provider refused the credential in ${name}`, {
        hint: `Set ${name} to a valid one and start again.`,
      });
    },
  };
}

/** A credential that `ask` gets on this host, again whenever it has expired. */
function renewedSource(name: string, kind: Secret['kind'], cloud: Cloud, ask: () => Promise<Secret>): CredentialSource {
  let kept: Secret | undefined;
  const refresh = async (): Promise<Secret> => {
    kept = await ask();
    return kept;
  };
  return {
    name,
    kind,
    cloud,
    current: async () =>
      kept !== undefined && (kept.expiresMs ?? Number.POSITIVE_INFINITY) > Date.now() ? kept : refresh(),
    refresh,
  };
}

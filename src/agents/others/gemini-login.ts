import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { asObject, type JsonObject } from '../../core/text/json-in.ts';
import type { CredentialSource } from '../../core/types/agent/credential.ts';
import { shownPath } from './codex-login.ts';
import { fixedKey, readJson, textOf, tokenLogin } from './token-login.ts';

// From Gemini CLI 0.61: where it refreshes a Google login, and as which client. Google does not treat what an installed
// program names as its secret as one.
const TOKEN_URL = 'https://oauth2.googleapis.com/token';
const CLIENT_ID = '681255809395-oo8ft2oprdrnp9e3aqf6av3hmdib135j.apps.googleusercontent.com';
const CLIENT_WORD = ['GOCSPX', '4uHgMPm-1o7Sk-geV6Cu5clXFsxl'].join('-');
const GEMINI_URL = 'https://generativelanguage.googleapis.com';
const CODE_ASSIST_URL = 'https://cloudcode-pa.googleapis.com';

export interface GeminiPlaces {
  readonly env: NodeJS.ProcessEnv;
  readonly home: string;
  /** The token endpoint; default Google's. */
  readonly endpoint?: string;
}

/** Gemini CLI's configuration directory on this host. */
export function geminiDir(env: NodeJS.ProcessEnv, home: string): string {
  return join(textOf(env['GEMINI_CLI_HOME']) ?? home, '.gemini');
}

/**
 * The credential that Gemini CLI on this host would use: the Google login where its settings choose that, otherwise a key
 * in GEMINI_API_KEY or in ~/.gemini/.env, then the login. Undefined when there is none.
 *
 * @throws {RunClaudeError} CREDENTIAL_UNREADABLE
 */
export async function findGeminiCredential(places: GeminiPlaces): Promise<CredentialSource | undefined> {
  const { env, home } = places;
  const dir = geminiDir(env, home);
  const settings = await readJson(join(dir, 'settings.json'), shownPath(join(dir, 'settings.json'), home));
  const auth = asObject(asObject(settings?.['security'])?.['auth']);
  const wantsLogin = auth?.['selectedType'] === 'oauth-personal';
  const order = wantsLogin ? [googleLogin, apiKey] : [apiKey, googleLogin];
  for (const find of order) {
    const source = await find(dir, places);
    if (source !== undefined) return source;
  }
  return undefined;
}

async function apiKey(dir: string, { env, home }: GeminiPlaces): Promise<CredentialSource | undefined> {
  const url = (textOf(env['GOOGLE_GEMINI_BASE_URL']) ?? GEMINI_URL).replace(/\/$/, '');
  const api = { kind: 'gemini' } as const;
  const key = textOf(env['GEMINI_API_KEY']?.trim());
  if (key !== undefined) return fixedKey('GEMINI_API_KEY', key, url, api);
  const file = join(dir, '.env');
  const text = await readFile(file, 'utf8').catch(() => '');
  const stored = /^(?:export )?GEMINI_API_KEY=["']?([^\s"']+)/m.exec(text)?.[1];
  return stored === undefined ? undefined : fixedKey(shownPath(file, home), stored, url, api);
}

async function googleLogin(dir: string, { env, home, endpoint }: GeminiPlaces): Promise<CredentialSource | undefined> {
  const file = join(dir, 'oauth_creds.json');
  return tokenLogin({
    file,
    name: shownPath(file, home),
    remedy: 'gemini, then /auth',
    url: (textOf(env['CODE_ASSIST_ENDPOINT']) ?? CODE_ASSIST_URL).replace(/\/$/, ''),
    api: { kind: 'code-assist' },
    endpoint: endpoint ?? TOKEN_URL,
    env,
    tokensOf: (document) => {
      const access = textOf(document['access_token']);
      const expires = document['expiry_date'];
      if (access === undefined) return undefined;
      return {
        access,
        refresh: textOf(document['refresh_token']),
        expiresMs: typeof expires === 'number' && Number.isFinite(expires) ? expires : undefined,
      };
    },
    request: (refreshToken) => ({
      type: 'application/x-www-form-urlencoded',
      body: new URLSearchParams({
        client_id: CLIENT_ID,
        client_secret: CLIENT_WORD,
        grant_type: 'refresh_token',
        refresh_token: refreshToken,
      }).toString(),
    }),
    withAnswer,
  });
}

function withAnswer(document: JsonObject, answer: JsonObject, nowMs: number): JsonObject {
  const seconds = answer['expires_in'];
  const next = textOf(answer['refresh_token']);
  return {
    ...document,
    access_token: answer['access_token'],
    ...(textOf(answer['id_token']) === undefined ? {} : { id_token: answer['id_token'] }),
    ...(next === undefined ? {} : { refresh_token: next }),
    expiry_date: nowMs + (typeof seconds === 'number' ? seconds : 3600) * 1000,
  };
}

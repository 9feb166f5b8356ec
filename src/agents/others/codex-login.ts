import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import { asObject, type JsonObject } from '../../core/text/json-in.ts';
import type { CredentialSource } from '../../core/types/agent/credential.ts';
import { expiryOfJwt, fixedKey, readJson, textOf, tokenLogin } from './token-login.ts';

// From Codex 0.169: where it refreshes a ChatGPT login, with which client id.
const TOKEN_URL = 'https://auth.openai.com/oauth/token';
const CLIENT_ID = 'app_EMoamEEZ73f0CkXaXp7hrann';
const OPENAI_URL = 'https://api.openai.com';
const CHATGPT_URL = 'https://chatgpt.com/backend-api/';

/** Codex's configuration directory on this host. */
export function codexDir(env: NodeJS.ProcessEnv, home: string): string {
  return textOf(env['CODEX_HOME']) ?? join(home, '.codex');
}

/**
 * The credential that Codex on this host would use: CODEX_API_KEY, what `codex login` stored (a key, or the tokens of a
 * ChatGPT login), OPENAI_API_KEY. Undefined when there is none.
 *
 * @throws {RunClaudeError} CREDENTIAL_UNREADABLE
 */
export async function findCodexCredential({
  env,
  home,
}: {
  readonly env: NodeJS.ProcessEnv;
  readonly home: string;
}): Promise<CredentialSource | undefined> {
  const url = (textOf(env['OPENAI_BASE_URL']) ?? OPENAI_URL).replace(/\/(v1\/?)?$/, '');
  const api = { kind: 'openai' } as const;
  const own = textOf(env['CODEX_API_KEY']?.trim());
  if (own !== undefined) return fixedKey('CODEX_API_KEY', own, url, api);
  const dir = codexDir(env, home);
  const file = join(dir, 'auth.json');
  const name = shownPath(file, home);
  const document = await readJson(file, name);
  const stored = textOf(document?.['OPENAI_API_KEY']);
  const account = textOf(asObject(document?.['tokens'])?.['account_id']);
  if (document !== undefined && account !== undefined && /^[\w.-]{1,128}$/.test(account)) {
    return tokenLogin({
      file,
      name,
      remedy: 'codex login',
      url: `${await chatgptUrl(dir)}codex`,
      api: { kind: 'chatgpt', account },
      endpoint: textOf(env['CODEX_REFRESH_TOKEN_URL_OVERRIDE']) ?? TOKEN_URL,
      env,
      tokensOf: ({ tokens }) => {
        const part = asObject(tokens);
        const access = textOf(part?.['access_token']);
        if (access === undefined) return undefined;
        return { access, refresh: textOf(part?.['refresh_token']), expiresMs: expiryOfJwt(access) };
      },
      request: (refreshToken) => ({
        type: 'application/json',
        body: JSON.stringify({ client_id: CLIENT_ID, grant_type: 'refresh_token', refresh_token: refreshToken }),
      }),
      withAnswer,
    });
  }
  if (stored !== undefined) return fixedKey(name, stored, url, api);
  const key = textOf(env['OPENAI_API_KEY']?.trim());
  return key === undefined ? undefined : fixedKey('OPENAI_API_KEY', key, url, api);
}

function withAnswer(document: JsonObject, answer: JsonObject, nowMs: number): JsonObject {
  const fresh = ['access_token', 'id_token', 'refresh_token'].flatMap((name) => {
    const value = textOf(answer[name]);
    return value === undefined ? [] : [[name, value] as const];
  });
  const tokens = { ...asObject(document['tokens']), ...Object.fromEntries(fresh) };
  return { ...document, tokens, last_refresh: new Date(nowMs).toISOString() };
}

/** The user's own address of ChatGPT, which an organisation may have. */
async function chatgptUrl(dir: string): Promise<string> {
  const url = textOf((await codexConfig(dir))['chatgpt_base_url']) ?? CHATGPT_URL;
  return url.endsWith('/') ? url : `${url}/`;
}

/** The user's config.toml; empty where it cannot be read. */
export async function codexConfig(dir: string): Promise<JsonObject> {
  try {
    return parse(await readFile(join(dir, 'config.toml'), 'utf8'));
  } catch {
    return {};
  }
}

/** A path of the home shown as `~`. */
export function shownPath(file: string, home: string): string {
  return file.startsWith(`${home}/`) ? `~${file.slice(home.length)}` : file;
}

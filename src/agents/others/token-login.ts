import { randomBytes } from 'node:crypto';
import { open, readFile, realpath, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { RunClaudeError } from '../../core/errors.ts';
import { post } from '../../core/host/https-request.ts';
import { withLock } from '../../core/store/lock.ts';
import { writeFileAtomic } from '../../core/store/record.ts';
import { asObject, type JsonObject, parseObject } from '../../core/text/json-in.ts';
import type { CredentialSource, ProviderApi, Secret } from '../../core/types/agent/credential.ts';

/** A token with less time left is refreshed before use. */
const REFRESH_AHEAD_MS = 5 * 60_000;
const LOCK_WAIT_MS = 60_000;
const REQUEST_MS = 30_000;
/** A token that we fetched is not refreshed again before this, whoever reports that it was refused. */
const MIN_REFRESH_MS = 10 * 60_000;

/** The tokens of a login. */
export interface Tokens {
  readonly access: string;
  readonly refresh: string | undefined;
  /** Milliseconds since the epoch, when known. */
  readonly expiresMs: number | undefined;
}

/** A login of another agent: the file in which its program keeps the tokens, and how they are refreshed. */
export interface TokenLogin {
  readonly file: string;
  /** For people: '~/.codex/auth.json'. */
  readonly name: string;
  /** 'run codex login'. */
  readonly remedy: string;
  readonly url: string;
  readonly api: ProviderApi;
  readonly endpoint: string;
  readonly env: NodeJS.ProcessEnv;
  /** The tokens in the file's content; undefined where there is no login. */
  readonly tokensOf: (document: JsonObject) => Tokens | undefined;
  readonly request: (refreshToken: string) => { readonly type: string; readonly body: string };
  /** The file's content with the answer's tokens in it. */
  readonly withAnswer: (document: JsonObject, answer: JsonObject, nowMs: number) => JsonObject;
}

/**
 * The login as a credential; undefined when there is none. The file is read each time, since the program on the host may
 * have refreshed it. A refresh happens on this host only, and the file is written before the new token is used.
 *
 * @throws {RunClaudeError} CREDENTIAL_UNREADABLE
 */
export async function tokenLogin(login: TokenLogin): Promise<CredentialSource | undefined> {
  const first = await read(login);
  if (first === undefined) return undefined;
  let handedOut: string | undefined;
  /** When this session fetched which token, so that refusals by the provider cannot make it ask again and again. */
  const fetched: Fetched = new Map();
  const hand = ({ access, expiresMs }: Tokens): Secret => {
    handedOut = access;
    return { kind: 'oauth', value: access, ...(expiresMs === undefined ? {} : { expiresMs }) };
  };
  return {
    name: login.name,
    kind: 'oauth',
    cloud: { url: login.url, api: login.api },
    ...(first.tokens.expiresMs === undefined ? {} : { expiresMs: first.tokens.expiresMs }),
    current: async () => {
      const now = await read(login);
      if (now === undefined) throw loggedOut(login);
      const { tokens } = now;
      if (tokens.expiresMs === undefined || tokens.expiresMs - Date.now() > REFRESH_AHEAD_MS) return hand(tokens);
      return hand(await refresh(login, tokens.access, { isRefused: false, fetched }));
    },
    refresh: async () => {
      const spent = handedOut ?? (await read(login))?.tokens.access;
      return hand(await refresh(login, spent, { isRefused: true, fetched }));
    },
  };
}

/** Access tokens that were fetched here, with the time in milliseconds since the epoch. */
type Fetched = Map<string, number>;

interface Stored {
  readonly document: JsonObject;
  readonly tokens: Tokens;
}

async function read(login: TokenLogin): Promise<Stored | undefined> {
  const document = await readJson(login.file, login.name);
  const tokens = document === undefined ? undefined : login.tokensOf(document);
  return document === undefined || tokens === undefined ? undefined : { document, tokens };
}

/**
 * The object in a JSON file; undefined where there is no such file, or no object in it.
 *
 * @throws {RunClaudeError} CREDENTIAL_UNREADABLE
 */
export async function readJson(file: string, name: string): Promise<JsonObject | undefined> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return '';
    throw new RunClaudeError('CREDENTIAL_UNREADABLE', `${name} cannot be read (${error.code})`, {
      hint: 'Give yourself read access to it.',
      cause: error,
    });
  });
  return parseObject(text);
}

/** The value where it is a text with something in it. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** `spent`: the token that expires soon, or (`isRefused`) that the provider has refused. */
async function refresh(
  login: TokenLogin,
  spent: string | undefined,
  { isRefused, fetched }: { readonly isRefused: boolean; readonly fetched: Fetched },
): Promise<Tokens> {
  const options = { what: `refreshing the login in ${login.name}`, waitMs: LOCK_WAIT_MS };
  return withLock(`${login.file}.run-claude-lock`, options, async () => {
    const stored = await read(login);
    if (stored === undefined) throw loggedOut(login);
    const { tokens } = stored;
    // The program on the host, or another session, has refreshed it.
    if (tokens.access !== spent && (tokens.expiresMs ?? Number.POSITIVE_INFINITY) > Date.now()) return tokens;
    if (tokens.refresh === undefined) throw loggedOut(login);
    if (isRefused && Date.now() - (fetched.get(tokens.access) ?? Number.NEGATIVE_INFINITY) < MIN_REFRESH_MS)
      throw expired(login, 'the provider refused a token that is less than 10 minutes old');
    const file = await realpath(login.file);
    await proveWritable(login, file);
    const answer = await ask(login, tokens.refresh);
    if (answer.kind === 'unreachable') {
      if (!isRefused && (tokens.expiresMs ?? 0) > Date.now()) return tokens;
      throw expired(login, `refreshing it failed: ${answer.why}`);
    }
    if (answer.kind === 'refused') {
      // The program on the host takes no lock: what it has stored in the meantime works as well.
      const other = await read(login);
      if (other !== undefined && other.tokens.access !== tokens.access) return other.tokens;
      throw loggedOut(login);
    }
    // The program on the host takes no lock: a login that it stored in the meantime is newer, and may be another account's.
    const now = await read(login);
    if (now === undefined) throw loggedOut(login);
    if (now.tokens.refresh !== tokens.refresh) return now.tokens;
    const written = login.withAnswer(now.document, answer.body, Date.now());
    const fresh = login.tokensOf(written);
    if (fresh === undefined) throw expired(login, 'its answer has no token');
    fetched.set(fresh.access, Date.now());
    writeFileAtomic(file, `${JSON.stringify(written, undefined, 2)}\n`);
    return fresh;
  });
}

/** A refresh token counts once: where its successor could not be stored, the login would be lost. */
async function proveWritable({ name }: TokenLogin, file: string): Promise<void> {
  const probe = join(dirname(file), `.${basename(file)}.${randomBytes(6).toString('hex')}`);
  try {
    const opened = await open(probe, 'wx', 0o600);
    try {
      await opened.writeFile('{}');
    } finally {
      await opened.close();
      await rm(probe, { force: true });
    }
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new RunClaudeError('CREDENTIAL_UNREADABLE', `${name} has to be refreshed and cannot be written (${code})`, {
      hint: 'Give yourself write access to its directory, or log in again.',
      cause,
    });
  }
}

type Answer =
  | { readonly kind: 'fresh'; readonly body: JsonObject }
  | { readonly kind: 'refused' }
  | { readonly kind: 'unreachable'; readonly why: string };

async function ask({ endpoint, env, request }: TokenLogin, refreshToken: string): Promise<Answer> {
  try {
    const { status, body } = await post(endpoint, request(refreshToken), env, REQUEST_MS);
    if (status === 400 || status === 401 || status === 403) return { kind: 'refused' };
    const answer = status === 200 ? asObject(JSON.parse(body)) : undefined;
    if (textOf(answer?.['access_token']) === undefined) return { kind: 'unreachable', why: `status ${status}` };
    return { kind: 'fresh', body: answer ?? {} };
  } catch (error) {
    return { kind: 'unreachable', why: error instanceof Error ? error.message : 'no answer' };
  }
}

function loggedOut(login: TokenLogin): RunClaudeError {
  return expired(login, 'it cannot be refreshed');
}

function expired({ name, remedy }: TokenLogin, why: string): RunClaudeError {
  return new RunClaudeError('CREDENTIAL_EXPIRED', `the login in ${name} has expired, and ${why}`, {
    hint: `To log in again: ${remedy}.`,
  });
}

/** A key in a variable or a file: nothing can refresh it. */
export function fixedKey(name: string, value: string, url: string, api: ProviderApi): CredentialSource {
  return {
    name,
    kind: 'api-key',
    cloud: { url, api },
    fixed: true,
    current: async () => ({ kind: 'api-key', value }),
    refresh: async () => {
      throw new RunClaudeError('CREDENTIAL_EXPIRED', `the provider refused the key in ${name}`, {
        hint: `Put a valid key into ${name}.`,
      });
    },
  };
}

/** When a JSON web token expires, in milliseconds since the epoch. Its signature is the provider's matter. */
export function expiryOfJwt(token: string): number | undefined {
  try {
    const claims = asObject(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')));
    const seconds = claims?.['exp'];
    return typeof seconds === 'number' && Number.isFinite(seconds) ? seconds * 1000 : undefined;
  } catch {
    return undefined;
  }
}

import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { type RunProgram, runProgram } from '../../core/host/processes/run-program.ts';
import { withLock } from '../../core/store/lock.ts';
import {
  fields,
  number,
  oneOf,
  optional,
  parseRecord,
  type RecordFormat,
  readRecordFile,
  text,
} from '../../core/store/parse-record.ts';
import { writeJsonAtomic } from '../../core/store/record.ts';
import { keychainStore } from '../claude/credentials/credential-store.ts';
import type { Client } from './tokens.ts';

/** Printed after a login was removed. */
export const NOT_REVOKED =
  'Its tokens are not revoked. To end them too, remove run-claude from the apps of your account at its authorization server.';

/** Longer than the authorization server may take for an answer. */
const LOCK_WAIT_MS = 60_000;

/** A login to one MCP server, as it is stored. */
export interface McpLogin {
  readonly version: 1;
  /** The address of the server that the token is sent to. */
  readonly server: string;
  readonly resource: string;
  readonly issuer: string;
  readonly tokenEndpoint: string;
  readonly client: Client;
  readonly access: string;
  readonly refresh: string | undefined;
  /** Milliseconds since the epoch, when known. */
  readonly expiresMs: number | undefined;
}

const FORMAT: RecordFormat<McpLogin> = {
  name: 'login to an MCP server',
  version: 1,
  check: fields<McpLogin>({
    version: oneOf(1),
    server: text,
    resource: text,
    issuer: text,
    tokenEndpoint: text,
    client: fields<Client>({
      id: text,
      secret: optional(text),
      method: oneOf('none', 'client_secret_basic', 'client_secret_post'),
    }),
    access: text,
    refresh: optional(text),
    expiresMs: optional(number),
  }),
  hint: 'Log in again: run-claude mcp login NAME.',
};

/** Where the login to one server is stored. */
export interface LoginStore {
  readonly name: string;
  /**
   * Runs `body` while no other process refreshes, replaces or removes the login: a refresh would otherwise bring back one
   * that was removed.
   *
   * @throws {RunClaudeError} LOCK_HELD after a minute
   */
  locked<T>(body: () => Promise<T>): Promise<T>;
  /** @throws {RunClaudeError} RECORD_DAMAGED, RECORD_UNREADABLE */
  read(): Promise<McpLogin | undefined>;
  /** @throws {RunClaudeError} RECORD_UNWRITABLE, CREDENTIAL_STORE_WRITE */
  write(login: McpLogin): Promise<void>;
  /** False where there was none. */
  remove(): Promise<boolean>;
}

/**
 * The store of a server's login: a file of mode 0600, or on macOS an item of the Keychain, where the login fits into one.
 * `name` has letters, digits, `-` and `_` only.
 */
export function loginStore(
  dataDir: string,
  name: string,
  { platform = process.platform, run = runProgram }: { platform?: NodeJS.Platform; run?: RunProgram } = {},
): LoginStore {
  const file = path.join(dataDir, 'mcp-logins', `${name}.json`);
  const service = `run-claude MCP ${name}`;
  const keychain = platform === 'darwin' ? keychainStore(service, run) : undefined;
  const removeItem = async (): Promise<boolean> =>
    (await run(['security', 'delete-generic-password', '-s', service], { timeoutMs: 60_000 })).status === 0;
  return {
    name,
    locked: (body) => withLock(`${file}.lock`, { what: `using the login to ${name}`, waitMs: LOCK_WAIT_MS }, body),
    async read() {
      const stored = readRecordFile(file, FORMAT);
      if (stored !== undefined || keychain === undefined) return stored;
      const item = await keychain.read();
      return item === undefined ? undefined : parseRecord(item, FORMAT, `${service} (${keychain.name})`);
    },
    async write(login) {
      const document = { ...login };
      if (keychain?.canStoreRefreshed(document) === true) {
        await keychain.write(document);
        rmSync(file, { force: true });
        return;
      }
      // Before the item is removed: the file is read first.
      writeJsonAtomic(file, login);
      if (keychain !== undefined) await removeItem();
    },
    async remove() {
      const hadItem = keychain === undefined ? false : await removeItem();
      const hadFile = existsSync(file);
      rmSync(file, { force: true });
      return hadFile || hadItem;
    },
  };
}

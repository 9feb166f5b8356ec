import { createHash, randomBytes } from 'node:crypto';
import { open, readFile, realpath, rename, rm } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { RunClaudeError } from '../../../core/errors.ts';
import type { RunProgram } from '../../../core/host/processes/run-program.ts';
import { type JsonObject, parseObject } from '../../../core/text/json-in.ts';

/** The place where Claude Code stores the tokens of a login on this host. A write keeps all other content. */
export interface CredentialStore {
  readonly name: string;
  /** The whole document; undefined when there is none or it cannot be parsed. */
  read(): Promise<JsonObject | undefined>;
  /** Whether a refreshed login fits: this document with slightly longer tokens. Asked before a refresh token is spent. */
  canStoreRefreshed(document: JsonObject): boolean;
  /**
   * Replaces the document durably.
   *
   * @throws {RunClaudeError} CREDENTIAL_STORE_WRITE
   */
  write(document: JsonObject): Promise<void>;
}

/** `.credentials.json` in Claude's configuration directory (Linux; macOS where the Keychain is not used). */
export function fileStore(configDir: string, shown: string): CredentialStore {
  const path = join(configDir, '.credentials.json');
  return {
    name: shown,
    read: async () => {
      const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return '';
        throw new RunClaudeError('CREDENTIAL_UNREADABLE', `${shown} cannot be read (${error.code})`, {
          hint: 'Give yourself read access to it, or log in again with `claude` on the host.',
          cause: error,
        });
      });
      return parseObject(text);
    },
    canStoreRefreshed: () => true,
    write: async (document) => {
      try {
        await replaceFile(await realpath(path).catch(() => path), JSON.stringify(document));
      } catch (error) {
        throw new RunClaudeError('CREDENTIAL_STORE_WRITE', `${shown} cannot be written`, {
          hint: 'Free some disk space or fix its permissions; otherwise the login is lost with this session.',
          cause: error,
        });
      }
    },
  };
}

/** Writes a new file, syncs, renames and syncs the directory: after a crash the file is the old or the new one. */
async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.run-claude-${randomBytes(6).toString('hex')}`;
  try {
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  const directory = await open(dirname(path), 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** The name of the Keychain item; another configuration directory has its own suffix. */
export function keychainService(configDir: string | undefined): string {
  const suffix = configDir === undefined ? '' : `-${createHash('sha256').update(configDir).digest('hex').slice(0, 8)}`;
  return `Claude Code-credentials${suffix}`;
}

/** `security -i` reads lines with fgets into 4,096 bytes and takes the rest of a longer one as another command. */
const MAX_SECURITY_LINE_BYTES = 4095;
/** By how much the provider's new tokens may be longer than the present ones. */
const TOKEN_GROWTH_BYTES = 256;

/**
 * The macOS Keychain through `security`. The secret is passed over stdin as hex, never in an argument, where `ps` shows
 * it to every user. `security` has no other way in: its prompt for a password ends after 128 bytes.
 */
export function keychainStore(service: string, run: RunProgram): CredentialStore {
  const storeCommand = (document: JsonObject): string => {
    const hex = Buffer.from(JSON.stringify(document)).toString('hex');
    return `add-generic-password -U -a "${userInfo().username}" -s "${service}" -X "${hex}"\n`;
  };
  return {
    name: 'macOS Keychain',
    read: async () => {
      const found = await run(['security', 'find-generic-password', '-s', service, '-w'], { timeoutMs: 60_000 });
      return found.status === 0 ? parseObject(found.stdout) : undefined;
    },
    canStoreRefreshed: (document) =>
      Buffer.byteLength(storeCommand(document)) + 2 * TOKEN_GROWTH_BYTES <= MAX_SECURITY_LINE_BYTES,
    write: async (document) => {
      const command = storeCommand(document);
      if (Buffer.byteLength(command) > MAX_SECURITY_LINE_BYTES)
        throw new RunClaudeError('CREDENTIAL_STORE_WRITE', 'the refreshed login is too long for the macOS Keychain', {
          hint: 'Run `claude` on the host and log in again with /login.',
        });
      const done = await run(['security', '-i'], { stdin: command, timeoutMs: 60_000 });
      if (done.status !== 0)
        throw new RunClaudeError('CREDENTIAL_STORE_WRITE', 'the macOS Keychain refused the refreshed login', {
          hint: 'Unlock the Keychain (`security unlock-keychain`) and start again.',
        });
    },
  };
}

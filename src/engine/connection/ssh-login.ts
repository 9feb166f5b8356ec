import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { promisify } from 'node:util';

/** What the connections of one command to one host have in common. */
export interface SharedLogin {
  /** Options of ssh for each of them. */
  readonly options: readonly string[];
  /** Ends the login, whatever still uses it; no error when there is none. */
  end(): Promise<void>;
}

const EACH_ITS_OWN: SharedLogin = { options: [], end: async () => undefined };

/** For a command that was killed. The next connection after a longer pause logs in again. */
const IDLE_SECONDS = 60;

/** Makes a directory in a folder, with a name that begins so, and gives its path. */
export type MakeDir = (folder: string, prefix: string) => Promise<string>;

/**
 * Lets the first connection's login serve all others (ssh_config(5), ControlMaster); where it has died, the next one
 * logs in for those that follow. Not where the person's own configuration says where such a login is (ControlPath): it
 * may be one that asks for more than a key.
 *
 * @param host the words by which ssh finds the host, after its options.
 */
export async function shareLogin(host: readonly string[], makeDir: MakeDir): Promise<SharedLogin> {
  const ssh = (...words: readonly string[]) => promisify(execFile)('ssh', [...words, ...host], { timeout: 10_000 });
  try {
    const { stdout } = await ssh('-G');
    if (/^controlpath (?!none$)/m.test(stdout)) return EACH_ITS_OWN;
    const dir = await makeDir(socketFolder(), 'run-claude-ssh-');
    const at = ['-o', `ControlPath=${dir}/s`];
    return {
      options: [...at, '-o', 'ControlMaster=auto', '-o', `ControlPersist=${IDLE_SECONDS}`],
      end: async () => {
        await ssh('-O', 'exit', ...at).catch(() => undefined);
        await rm(dir, { recursive: true, force: true });
      },
    };
  } catch {
    // No ssh, or a configuration that it does not understand: the connection itself tells so.
    return EACH_ITS_OWN;
  }
}

/**
 * A socket's path has 104 bytes on some systems, of which ssh takes 17 for a name of its own while it makes it; and its
 * configuration reads blanks, quotes and percent signs in a path as something else.
 */
function socketFolder(): string {
  const folder = tmpdir();
  return /^[\w./+-]{1,60}$/.test(folder) ? folder : '/tmp';
}

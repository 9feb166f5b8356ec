import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { outputOfProgram } from '../../../core/host/programs/start-program.ts';

/** The login that all connections of one command to one host share. */
export interface SharedLogin {
  /** Options of ssh for each of them. */
  readonly options: readonly string[];
  /** Ends the login, also when it is in use. No error when there is none. */
  end(): Promise<void>;
}

const PER_CONNECTION: SharedLogin = { options: [], end: async () => undefined };

/** Ends the login of a command that was killed. After a longer pause the next connection logs in again. */
const IDLE_SECONDS = 60;

/** Makes a directory in a folder, with a name that begins with the prefix, and returns its path. */
export type MakeDir = (folder: string, prefix: string) => Promise<string>;

/**
 * Shares the login of the first connection with all others (ssh_config(5), ControlMaster). When it has ended, the next
 * connection logs in for the following ones. Not where the user's configuration has a ControlPath: that login may need
 * more than a key.
 *
 * @param host the arguments of ssh that name the host, after its options.
 */
export async function shareLogin(host: readonly string[], makeDir: MakeDir): Promise<SharedLogin> {
  const ssh = (...words: readonly string[]) =>
    outputOfProgram('ssh', [...words, ...host], { cwd: '/', timeout: 10_000 });
  try {
    const { stdout } = await ssh('-G');
    const alive = aliveOptions(stdout);
    if (/^controlpath (?!none$)/m.test(stdout)) return { ...PER_CONNECTION, options: alive };
    const dir = await makeDir(socketFolder(), 'run-claude-ssh-');
    const at = ['-o', `ControlPath=${dir}/s`];
    return {
      options: [...alive, ...at, '-o', 'ControlMaster=auto', '-o', `ControlPersist=${IDLE_SECONDS}`],
      end: async () => {
        await ssh('-O', 'exit', ...at).catch(() => undefined);
        await rm(dir, { recursive: true, force: true });
      },
    };
  } catch {
    // No ssh, or a configuration that ssh rejects: the connection itself reports it.
    return PER_CONNECTION;
  }
}

/** How long a login may take, and after how long without a sign of the other side a connection ends. */
const CONNECT_SECONDS = 10;
const ALIVE_SECONDS = 10;
const ALIVE_COUNT = 3;

/**
 * By default ssh waits forever for a machine that was cut off. Where the user's configuration sets one of these, it counts.
 *
 * @param configuration what `ssh -G` prints for the host.
 */
export function aliveOptions(configuration: string): readonly string[] {
  const alive = /^serveraliveinterval 0$/m.test(configuration)
    ? ['-o', `ServerAliveInterval=${ALIVE_SECONDS}`, '-o', `ServerAliveCountMax=${ALIVE_COUNT}`]
    : [];
  const connect = /^connecttimeout none$/m.test(configuration) ? ['-o', `ConnectTimeout=${CONNECT_SECONDS}`] : [];
  return [...alive, ...connect];
}

/**
 * Some systems limit a socket's path to 104 bytes, of which ssh needs 17 for a temporary name. Blanks, quotes and percent
 * signs in a path have a meaning in ssh's configuration.
 */
function socketFolder(): string {
  const folder = tmpdir();
  return /^[\w./+-]{1,60}$/.test(folder) ? folder : '/tmp';
}

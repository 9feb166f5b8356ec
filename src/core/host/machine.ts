import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { ProcessIdentity } from '../types/session.ts';
import { processFields } from './processes/process-fields.ts';
import { execFileSync } from './programs/start-program.ts';

type Start = Pick<ProcessIdentity, 'started' | 'startedAt'>;

/** What tells processes and boots apart on Linux (/proc) and on macOS (ps, sysctl, ioreg). Values are read once. */
export class Machine {
  readonly platform: NodeJS.Platform;
  readonly hostname: string;
  readonly #env: NodeJS.ProcessEnv;
  #bootId: string | undefined;
  #machineId: { readonly id: string | undefined } | undefined;
  #ownStart: Start | undefined;

  constructor(platform: NodeJS.Platform, env: NodeJS.ProcessEnv, name: string) {
    this.platform = platform;
    this.hostname = name;
    this.#env = env;
  }

  /** Differs after each boot; 'unknown' when the system does not tell. */
  get bootId(): string {
    this.#bootId ??=
      (this.platform === 'linux'
        ? contentOf('/proc/sys/kernel/random/boot_id')
        : this.#run('sysctl', ['-n', 'kern.bootsessionuuid'])) || 'unknown';
    return this.#bootId;
  }

  /** Stays the same over boots and changes of the name. Hashed: machine-id(5) asks not to write the id itself down. */
  get machineId(): string | undefined {
    this.#machineId ??= { id: hashed(this.platform === 'linux' ? contentOf('/etc/machine-id') : this.#hardwareId()) };
    return this.#machineId.id;
  }

  /** When this process started, in the form of its identity. */
  ownStart(): Start {
    this.#ownStart ??= this.#startOfThisProcess();
    return this.#ownStart;
  }

  /** Undefined when it is unknown. A zombie has ended, but its parent has not read its status yet. */
  startOf(pid: number): (Partial<Start> & { readonly isZombie: boolean }) | undefined {
    return this.platform === 'linux' ? startInProc(pid) : this.#startFromPs(pid);
  }

  #startOfThisProcess(): Start {
    const { started = 'unknown', startedAt } = this.startOf(process.pid) ?? {};
    // Earlier releases compare `started` with the local text of ps. With 'unknown' they never take the process for ended.
    return { started, ...(startedAt === undefined ? {} : { startedAt }) };
  }

  #startFromPs(pid: number): { readonly startedAt?: string; readonly isZombie: boolean } | undefined {
    const [, stat = '', lstart = ''] =
      /^(\S+)\s+(.+)$/.exec(this.#run('ps', ['-o', 'stat=', '-o', 'lstart=', '-p', String(pid)]) ?? '') ?? [];
    const ms = Date.parse(`${lstart} UTC`);
    const startedAt = Number.isNaN(ms) ? {} : { startedAt: new Date(ms).toISOString() };
    return stat === '' ? undefined : { ...startedAt, isZombie: stat.startsWith('Z') };
  }

  #hardwareId(): string | undefined {
    const properties = this.#run('ioreg', ['-rd1', '-c', 'IOPlatformExpertDevice']) ?? '';
    return /"IOPlatformUUID" = "([^"]+)"/.exec(properties)?.[1];
  }

  /** ps prints times in the zone and the language of its environment: both are set. */
  #run(program: string, args: readonly string[]): string | undefined {
    try {
      const env = { ...this.#env, LC_ALL: 'C', TZ: 'UTC0' };
      return execFileSync(program, args, {
        cwd: '/',
        encoding: 'utf8',
        env,
        stdio: ['ignore', 'pipe', 'ignore'],
      }).trim();
    } catch {
      return undefined;
    }
  }
}

/** The machine that this process runs on. */
export const thisMachine = new Machine(process.platform, process.env, hostname());

/** proc(5): fields 3 and 22. */
function startInProc(pid: number): { readonly started?: string; readonly isZombie: boolean } | undefined {
  try {
    const { 0: state, 19: started } = processFields(pid);
    return { ...(started === undefined ? {} : { started }), isZombie: state === 'Z' };
  } catch {
    return undefined;
  }
}

function contentOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'latin1').trim();
  } catch {
    return undefined;
  }
}

function hashed(id: string | undefined): string | undefined {
  return id ? createHash('sha256').update(`run-claude ${id}`).digest('hex').slice(0, 32) : undefined;
}

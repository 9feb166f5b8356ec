import { parseUser } from '../../../core/host/user.ts';
import type { ContainerSpec, Limits, Mount } from '../../../core/types/engine.ts';

/** Directory of run-claude's programs in every image. */
export const INSIDE = '/usr/lib/run-claude';

/** Of a container that fills or reads a volume. No account of a host has it: `nobody` is what servers there run as. */
export const HELPER_USER = '61001:61001';

/** Option of init: the program's umask. */
export const UMASK_OPTION = '--umask';

const HOSTNAME = 'sandbox';
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** Enough for a large build. Some engines may not raise the limit above this. */
const NOFILE = 16_384;
const RUN_MB = 16;

/** The guard checks whether this exists. On a read-only root no process inside can make it. */
const PUSH_SIGN: Mount = {
  kind: 'tmpfs',
  target: '/etc/run-claude/allow-git-push',
  sizeMb: 1,
  mode: 0o555,
  noexec: true,
};

/** The libraries of the image that guard the agent's programs check whether this exists: an observer reads their memory, and shows what git starts. */
const OBSERVED_SIGN: Mount = { ...PUSH_SIGN, target: '/etc/run-claude/observed' };

/** What every container of a session shares. */
export interface SessionParts {
  readonly sessionId: string;
  readonly image: string;
  /** Text of the profile, from readSeccompProfile(). */
  readonly seccomp: string;
  readonly runtime?: string | undefined;
}

export interface AgentParts extends SessionParts {
  /** 'uid:gid'. */
  readonly user: string;
  /** The program itself; init goes before it. */
  readonly argv: readonly string[];
  /** Of the program, where it is not the engine's. */
  readonly umask?: number | undefined;
  /** Init starts nothing before this file exists. No process inside can make it. */
  readonly until?: string | undefined;
  /** The container ends with the command that holds it, by SIGKILL too. The program has no input. */
  readonly tied?: boolean;
  /** Ports and sockets that init's forwarder joins, each in the form of init's --forward. */
  readonly forwards: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly workdir: string;
  /** Workspace, home, the gateway's sockets: all but the tmpfs mounts, which are added here. */
  readonly mounts: readonly Mount[];
  readonly network: ContainerSpec['network'];
  /** Host names of 127.0.0.1, besides localhost. */
  readonly loopbackNames?: readonly string[];
  readonly limits: { readonly memoryMb: number; readonly cpus: number; readonly pids: number; readonly tmpMb: number };
  readonly gpus?: boolean | undefined;
  readonly tty: boolean;
  readonly stdin: ContainerSpec['stdin'];
  /** The preload guard lets pushes pass. */
  readonly allowGitPush?: boolean;
}

/** The agent's container. Nothing here is optional; the plan names what weakens it. */
export function agentSpec(parts: AgentParts): ContainerSpec {
  const { memoryMb, cpus, pids, tmpMb } = parts.limits;
  return {
    ...baseSpec(parts, 'agent', ''),
    argv: [
      `${INSIDE}/init`,
      ...(parts.umask === undefined ? [] : [UMASK_OPTION, parts.umask.toString(8).padStart(4, '0')]),
      ...(parts.tied === true ? ['--tied'] : []),
      ...(parts.until === undefined ? [] : ['--until', parts.until]),
      ...parts.forwards.flatMap((spec) => ['--forward', spec]),
      '--',
      ...parts.argv,
    ],
    user: parts.user,
    env: parts.env,
    workdir: parts.workdir,
    mounts: [...parts.mounts, ...scratch(parts.user, tmpMb), ...(parts.allowGitPush === true ? [PUSH_SIGN] : [])],
    network: parts.network,
    ...(parts.gpus === true ? { gpus: true as const } : {}),
    ...(parts.loopbackNames === undefined ? {} : { loopbackNames: parts.loopbackNames }),
    capabilities: [],
    limits: limits(memoryMb, cpus, pids),
    tty: parts.tty,
    stdin: parts.stdin,
  };
}

/**
 * The container of a rehearsal: the agent's, whose program is the observer. In it git starts what it would start for the
 * user, and programs can be read by the observer. It has neither network nor credential.
 */
export function rehearsalSpec(
  parts: Omit<AgentParts, 'network' | 'tty' | 'stdin' | 'argv'> & {
    /** Suffix of the container's name. */
    readonly suffix: string;
    /** For images/observer. */
    readonly words: readonly string[];
  },
): ContainerSpec {
  const argv = [`${INSIDE}/observer`, ...parts.words];
  const spec = agentSpec({ ...parts, argv, network: 'none', tty: false, stdin: 'stream' });
  const name = `${spec.name}-${parts.suffix}`;
  return { ...spec, name, role: 'task', mounts: [...spec.mounts, OBSERVED_SIGN] };
}

export interface ServantParts extends SessionParts {
  /** Suffix of the container's name, when a session has several of this role. */
  readonly suffix?: string;
  readonly user: string;
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly mounts: readonly Mount[];
  readonly stdin: ContainerSpec['stdin'];
  readonly memoryMb?: number;
  readonly cpus?: number;
  readonly pids?: number;
  readonly tmpMb?: number;
  /** Host names of 127.0.0.1, besides localhost. */
  readonly loopbackNames?: readonly string[];
}

/** The gateway: the only container with a network. No workspace, no capability. */
export function gatewaySpec(parts: ServantParts & { readonly bridge: string }): ContainerSpec {
  return { ...servant(parts, 'gateway', 512, 64), network: { bridge: parts.bridge } };
}

/** A companion of the agent: a program of the user's with secrets of its own. Its only door is its directory of sockets. */
export function companionSpec(parts: ServantParts): ContainerSpec {
  return servant(parts, 'companion', 1024, 256);
}

/** The collector: uid 0, which may read everything that it mounts and nothing else. No network. */
export function collectorSpec(parts: Omit<ServantParts, 'user'>): ContainerSpec {
  return { ...servant({ ...parts, user: '0:0' }, 'collector', 1024, 64), capabilities: ['DAC_READ_SEARCH'] };
}

/** A helper that runs one program and ends: git on the session's repository, probes, filling a volume. No network. */
export function taskSpec(parts: ServantParts & { readonly capabilities?: readonly string[] }): ContainerSpec {
  return { ...servant(parts, 'task', 1024, 256), capabilities: parts.capabilities ?? [] };
}

function servant(
  parts: ServantParts,
  role: 'gateway' | 'companion' | 'collector' | 'task',
  memoryMb: number,
  pids: number,
): ContainerSpec {
  return {
    ...baseSpec(parts, role, `-${parts.suffix ?? role}`),
    argv: parts.argv,
    user: parts.user,
    env: { PATH, HOME: '/tmp', LANG: 'C.UTF-8', ...parts.env },
    workdir: '/',
    mounts: [...parts.mounts, ...scratch(parts.user, parts.tmpMb ?? 64)],
    network: 'none',
    ...(parts.loopbackNames === undefined ? {} : { loopbackNames: parts.loopbackNames }),
    capabilities: [],
    limits: limits(parts.memoryMb ?? memoryMb, parts.cpus ?? 0, parts.pids ?? pids),
    tty: false,
    stdin: parts.stdin,
  };
}

function baseSpec(parts: SessionParts, role: ContainerSpec['role'], suffix: string) {
  return {
    name: `run-claude-${parts.sessionId}${suffix}`,
    role,
    sessionId: parts.sessionId,
    image: parts.image,
    seccomp: parts.seccomp,
    hostname: HOSTNAME,
    ...(parts.runtime === undefined ? {} : { runtime: parts.runtime }),
  };
}

function limits(memoryMb: number, cpus: number, pids: number): Limits {
  return { memoryMb, cpus, pids, nofile: NOFILE, shmMb: 64 };
}

/** Writable directories besides the mounts. The runtime gives a tmpfs the mode of the image's directory, so /run has an owner. */
function scratch(user: string, tmpMb: number): readonly Mount[] {
  const { uid, gid } = parseUser(user);
  return [
    { kind: 'tmpfs', target: '/tmp', sizeMb: tmpMb, mode: 0o1777, noexec: false },
    {
      kind: 'tmpfs',
      target: '/run',
      sizeMb: RUN_MB,
      mode: 0o755,
      noexec: true,
      uid,
      gid,
    },
  ];
}

import type Docker from 'dockerode';
import type { ContainerSpec, Mount } from '../../core/types/engine.ts';
import { MASKED_PATHS, READONLY_PATHS, SYSCTLS } from './hardening/masked-paths.ts';

/** Labels of every object that run-claude makes. */
export const SESSION_LABEL = 'run-claude.session';
export const OWNER_LABEL = 'run-claude.owner';
const ROLE_LABEL = 'run-claude.role';

/** The labels of a container. */
export function labelsOf(spec: ContainerSpec, owner: string): Record<string, string> {
  return { ...spec.labels, [SESSION_LABEL]: spec.sessionId, [OWNER_LABEL]: owner, [ROLE_LABEL]: spec.role };
}

/**
 * The body of POST /containers/create. What all containers have in common is here; what differs is in the spec.
 * `imageVariables`: names of the variables that the image sets. A name without a value removes such a variable (Engine
 * API, ContainerConfig.Env).
 */
export function containerBody(
  spec: ContainerSpec,
  owner: string,
  imageVariables: readonly string[] = [],
): Docker.ContainerCreateOptions {
  const [program, ...args] = spec.argv;
  const attached = spec.stdin === 'stream';
  return {
    name: spec.name,
    Image: spec.image,
    Entrypoint: program === undefined ? [] : [program],
    Cmd: args,
    User: spec.user,
    WorkingDir: spec.workdir,
    Hostname: spec.hostname,
    Env: [
      ...Object.entries(spec.env).map(([name, value]) => `${name}=${value}`),
      ...imageVariables.filter((name) => !(name in spec.env) && name !== 'PATH'),
    ],
    Tty: spec.tty,
    OpenStdin: attached,
    // The container's stdin closes when the attached client ends, also by SIGKILL.
    StdinOnce: attached,
    AttachStdin: attached,
    AttachStdout: true,
    AttachStderr: true,
    Healthcheck: { Test: ['NONE'] },
    Labels: labelsOf(spec, owner),
    HostConfig: hostConfig(spec),
  };
}

/**
 * The request with its name in the address and everything else in the body alone. Otherwise docker-modem repeats the
 * body in the address, the seccomp profile included. @types/dockerode does not know its two fields.
 */
export function nameApart({ name, ...body }: Docker.ContainerCreateOptions): Docker.ContainerCreateOptions {
  const apart: object = { _query: { name }, _body: body };
  return apart;
}

/** With a field that @types/dockerode lacks. */
type HostConfig = Docker.HostConfig & { readonly CgroupnsMode: 'private' };

function hostConfig(spec: ContainerSpec): HostConfig {
  const { limits } = spec;
  const memory = limits.memoryMb * 1024 * 1024;
  return {
    ReadonlyRootfs: true,
    CapDrop: ['ALL'],
    CapAdd: [...spec.capabilities],
    Privileged: false,
    SecurityOpt: ['no-new-privileges', ...(spec.seccomp === undefined ? [] : [`seccomp=${spec.seccomp}`])],
    MaskedPaths: [...MASKED_PATHS],
    ReadonlyPaths: [...READONLY_PATHS],
    Sysctls: { ...SYSCTLS },
    // Without these the engine copies the host's resolvers and search domains, also without a network.
    ...(spec.network === 'none' ? { Dns: ['127.0.0.1'], DnsSearch: ['.'] } : {}),
    ...extraHosts(spec),
    ...(spec.gpus === true ? { DeviceRequests: [ALL_GPUS] } : {}),
    LogConfig: { Type: 'none', Config: {} },
    NetworkMode: spec.network === 'none' ? 'none' : spec.network.bridge,
    IpcMode: 'private',
    CgroupnsMode: 'private',
    Memory: memory,
    MemorySwap: memory,
    NanoCpus: Math.round(limits.cpus * 1e9),
    PidsLimit: limits.pids,
    ShmSize: limits.shmMb * 1024 * 1024,
    Ulimits: [
      // 1, not 0: only this value also keeps a crash from starting the host's core handler (core(5)).
      { Name: 'core', Soft: 1, Hard: 1 },
      { Name: 'nofile', Soft: limits.nofile, Hard: limits.nofile },
    ],
    RestartPolicy: { Name: 'no' },
    AutoRemove: false,
    Init: false,
    Mounts: spec.mounts.filter((mount) => mount.kind !== 'tmpfs').map(mountEntry),
    // Mounts of type tmpfs have no options for exec and the owner. This older field has.
    Tmpfs: Object.fromEntries(spec.mounts.filter((mount) => mount.kind === 'tmpfs').map(tmpfsEntry)),
    ...(spec.runtime === undefined ? {} : { Runtime: spec.runtime }),
  };
}

/** What `docker run --gpus all` asks for, as the engine records it. */
export const ALL_GPUS = { Driver: '', Count: -1, DeviceIDs: [], Capabilities: [['gpu']], Options: {} };

function extraHosts({ loopbackNames = [] }: ContainerSpec): { readonly ExtraHosts?: string[] } {
  return loopbackNames.length === 0 ? {} : { ExtraHosts: hostsOf(loopbackNames) };
}

/** Names of 127.0.0.1 as engines write and record them. */
export function hostsOf(loopbackNames: readonly string[]): string[] {
  return loopbackNames.map((name) => `${name}:127.0.0.1`);
}

function mountEntry(mount: Exclude<Mount, { kind: 'tmpfs' }>): Docker.MountSettings {
  if (mount.kind === 'bind') {
    const { source, target, readonly } = mount;
    return {
      Type: 'bind',
      Source: source,
      Target: target,
      ReadOnly: readonly,
      BindOptions: { Propagation: 'rprivate' },
    };
  }
  return {
    Type: 'volume',
    Source: mount.volume,
    Target: mount.target,
    ReadOnly: mount.readonly,
    // The engine fills a new volume from the image's directory only on request.
    VolumeOptions: { NoCopy: mount.fill !== true, Labels: {}, DriverConfig: { Name: 'local', Options: {} } },
  };
}

function tmpfsEntry(mount: MemoryMount): [string, string] {
  const options = [
    ...memoryOptions(mount, mount.mode),
    ...(mount.uid === undefined ? [] : [`uid=${mount.uid}`]),
    ...(mount.gid === undefined ? [] : [`gid=${mount.gid}`]),
  ];
  return [mount.target, options.join(',')];
}

type MemoryMount = Extract<Mount, { kind: 'tmpfs' }>;

/** The options of a tmpfs, without its owner. */
export function memoryOptions(
  { noexec, sizeMb }: Pick<MemoryMount, 'noexec' | 'sizeMb'>,
  mode: number,
): readonly string[] {
  return ['rw', 'nosuid', 'nodev', noexec ? 'noexec' : 'exec', `size=${sizeMb}m`, `mode=${mode.toString(8)}`];
}

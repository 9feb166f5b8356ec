import { parseUser } from '../../core/host/user.ts';
import type { ContainerSpec, Mount } from '../../core/types/engine.ts';
import { memoryOptions } from '../engine/body.ts';
import { MASKED_PATHS, READONLY_PATHS, SYSCTLS } from '../engine/hardening/masked-paths.ts';
import { type OciSeccomp, ociSeccomp } from './oci-seccomp.ts';
import { provableArgv } from './provable-argv.ts';

/** What a bundle needs besides the specification of its container. */
export interface OciPlace {
  /** The unpacked root of the image: a path, relative to the bundle or absolute. */
  readonly rootfs: string;
  /** Of the machine: 'amd64'. */
  readonly arch: string;
  /** Directories of the machine for the engine's volumes, by name. */
  readonly volumes: Readonly<Record<string, string>>;
  /** A network namespace that the caller made, for a container with a network. */
  readonly networkNamespace?: string;
}

interface OciMount {
  readonly destination: string;
  readonly type: string;
  readonly source: string;
  readonly options: readonly string[];
}

interface Rlimit {
  readonly type: string;
  readonly hard: number;
  readonly soft: number;
}

/** config.json of the OCI runtime specification, as far as it is used. */
export interface OciConfig {
  readonly ociVersion: string;
  readonly process: {
    readonly terminal: boolean;
    readonly user: { readonly uid: number; readonly gid: number };
    readonly args: readonly string[];
    readonly env: readonly string[];
    readonly cwd: string;
    readonly capabilities: Readonly<
      Record<'bounding' | 'effective' | 'permitted' | 'inheritable' | 'ambient', readonly string[]>
    >;
    readonly rlimits: readonly Rlimit[];
    readonly noNewPrivileges: boolean;
  };
  readonly root: { readonly path: string; readonly readonly: boolean };
  readonly hostname: string;
  readonly mounts: readonly OciMount[];
  readonly annotations: Readonly<Record<string, string>>;
  readonly linux: {
    readonly cgroupsPath: string;
    readonly namespaces: readonly { readonly type: string; readonly path?: string }[];
    readonly resources: {
      readonly devices: readonly { readonly allow: boolean; readonly access: string }[];
      readonly memory: { readonly limit: number; readonly swap: number };
      readonly cpu?: { readonly quota: number; readonly period: number };
      readonly pids: { readonly limit: number };
    };
    readonly sysctl: Readonly<Record<string, string>>;
    readonly maskedPaths: readonly string[];
    readonly readonlyPaths: readonly string[];
    readonly seccomp?: OciSeccomp;
    readonly rootfsPropagation: string;
  };
}

/** In microseconds: how often the processor time is counted. */
const CPU_PERIOD = 100_000;

/**
 * The config.json of a container. A mount of a volume that has no directory, and a bridge without a namespace, are errors
 * of the caller.
 */
export function ociConfig(spec: ContainerSpec, place: OciPlace): OciConfig {
  const { limits } = spec;
  const memory = limits.memoryMb * 1_048_576;
  const capabilities = spec.capabilities.map((name) => `CAP_${name}`);
  return {
    ociVersion: '1.0.2',
    process: {
      terminal: spec.tty,
      user: parseUser(spec.user),
      args: provableArgv('oci', spec),
      env: Object.entries(spec.env).map(([name, value]) => `${name}=${value}`),
      cwd: spec.workdir,
      capabilities: {
        bounding: capabilities,
        effective: capabilities,
        permitted: capabilities,
        inheritable: [],
        ambient: [],
      },
      rlimits: [
        { type: 'RLIMIT_CORE', hard: 1, soft: 1 },
        { type: 'RLIMIT_NOFILE', hard: limits.nofile, soft: limits.nofile },
      ],
      noNewPrivileges: true,
    },
    root: { path: place.rootfs, readonly: true },
    hostname: spec.hostname,
    mounts: parentsFirst([...systemMounts(limits.shmMb), ...spec.mounts.map((mount) => ociMount(mount, place))]),
    annotations: { 'run-claude.session': spec.sessionId, 'run-claude.role': spec.role, ...spec.labels },
    linux: {
      cgroupsPath: `/run-claude/${spec.name}`,
      namespaces: [
        ...['pid', 'ipc', 'uts', 'mount', 'cgroup'].map((type) => ({ type })),
        networkNamespace(spec, place),
      ],
      resources: {
        // The runtime adds null, zero, full, random, urandom, tty and the container's own terminals.
        devices: [{ allow: false, access: 'rwm' }],
        memory: { limit: memory, swap: memory },
        ...(limits.cpus === 0 ? {} : { cpu: { quota: Math.round(limits.cpus * CPU_PERIOD), period: CPU_PERIOD } }),
        pids: { limit: limits.pids },
      },
      sysctl: SYSCTLS,
      maskedPaths: MASKED_PATHS,
      readonlyPaths: READONLY_PATHS,
      ...(spec.seccomp === undefined ? {} : { seccomp: ociSeccomp(spec.seccomp, place.arch) }),
      rootfsPropagation: 'rprivate',
    },
  };
}

function networkNamespace({ network }: ContainerSpec, { networkNamespace: path }: OciPlace) {
  if (network === 'none') return { type: 'network' };
  if (path === undefined) throw new Error('a container with a network needs a network namespace');
  return { type: 'network', path };
}

/** A runtime mounts in the order of the list, and a directory would cover what is mounted below it. Engines sort them so. */
function parentsFirst(mounts: readonly OciMount[]): readonly OciMount[] {
  const depth = ({ destination }: OciMount): number => destination.split('/').length;
  return mounts.toSorted((one, other) => depth(one) - depth(other));
}

/** What engines mount in every container. */
function systemMounts(shmMb: number): OciMount[] {
  const mount = (destination: string, type: string, ...options: readonly string[]): OciMount => ({
    destination,
    type,
    source: type,
    options,
  });
  return [
    mount('/proc', 'proc', 'nosuid', 'noexec', 'nodev'),
    mount('/dev', 'tmpfs', 'nosuid', 'strictatime', 'mode=755', 'size=65536k'),
    mount('/dev/pts', 'devpts', 'nosuid', 'noexec', 'newinstance', 'ptmxmode=0666', 'mode=0620', 'gid=5'),
    mount('/sys', 'sysfs', 'nosuid', 'noexec', 'nodev', 'ro'),
    mount('/sys/fs/cgroup', 'cgroup', 'ro', 'nosuid', 'noexec', 'nodev'),
    mount('/dev/mqueue', 'mqueue', 'nosuid', 'noexec', 'nodev'),
    mount('/dev/shm', 'tmpfs', 'nosuid', 'noexec', 'nodev', 'mode=1777', `size=${shmMb}m`),
  ];
}

function ociMount(mount: Mount, { volumes }: OciPlace): OciMount {
  if (mount.kind === 'tmpfs') {
    const owner = [
      ...(mount.uid === undefined ? [] : [`uid=${mount.uid}`]),
      ...(mount.gid === undefined ? [] : [`gid=${mount.gid}`]),
    ];
    const options = [...memoryOptions(mount, mount.mode), ...owner];
    return { destination: mount.target, type: 'tmpfs', source: 'tmpfs', options };
  }
  const source = mount.kind === 'bind' ? mount.source : volumes[mount.volume];
  if (source === undefined)
    throw new Error(`there is no directory for the volume ${mount.kind === 'volume' && mount.volume}`);
  const options = ['rbind', 'rprivate', 'nosuid', 'nodev', mount.readonly ? 'ro' : 'rw'];
  return { destination: mount.target, type: 'bind', source, options };
}

import { readFileSync } from 'node:fs';
import type { ContainerSpec, EngineFacts, Mount } from '../types/engine.ts';
import { labelsOf, memoryOptions } from './body.ts';
import { MASKED_PATHS, SYSCTLS } from './hardening/masked-paths.ts';
import { SECCOMP_FILE } from './hardening/seccomp.ts';

// The body of POST /libpod/containers/create, Podman's own (its SpecGenerator): what Docker's form of it cannot say is
// dropped by Podman without a word (masks, the cgroup namespace, limits where it is rootless). Fields are those of 4.3,
// and mean the same in 5 and 6.

/** A mount that the runtime makes, as in the OCI specification. */
interface RuntimeMount {
  readonly type: string;
  readonly source: string;
  readonly destination: string;
  readonly options: readonly string[];
}

/** The options of an overlay volume by its name, for those that the spec mounts. */
export type Overlays = ReadonlyMap<string, readonly string[]>;

/** The largest number of processes of a user that Podman gives a container by itself, where it may. */
const DEFAULT_PROCESSES = 1_048_576;

export interface PodmanParts {
  readonly owner: string;
  readonly overlays: Overlays;
  readonly cgroupVersion: EngineFacts['cgroupVersion'];
}

/** Everything that differs from Podman's defaults, or that its configuration on this machine could set otherwise. */
export function podmanBody(
  spec: ContainerSpec,
  { owner, overlays, cgroupVersion }: PodmanParts,
): Record<string, unknown> {
  const { limits } = spec;
  const memory = limits.memoryMb * 1024 * 1024;
  const [program, ...args] = spec.argv;
  const limit = (type: string, value: number) => ({ type, soft: value, hard: value });
  const own = { nsmode: 'private' };
  return {
    name: spec.name,
    image: spec.image,
    entrypoint: program === undefined ? [] : [program],
    command: args,
    user: spec.user,
    work_dir: spec.workdir,
    hostname: spec.hostname,
    env: spec.env,
    // Of the image, of its configuration, its own, the host's proxies.
    unsetenvall: true,
    httpproxy: false,
    env_host: false,
    terminal: spec.tty,
    // It is closed when its client goes.
    stdin: spec.stdin === 'stream',
    labels: labelsOf(spec, owner),
    healthconfig: { Test: ['NONE'] },
    log_configuration: { driver: 'none' },
    restart_policy: 'no',
    systemd: 'false',
    sdnotifyMode: 'ignore',
    read_only_filesystem: true,
    read_write_tmpfs: false,
    image_volume_mode: 'ignore',
    // The host's own names would be copied in.
    use_image_hosts: true,
    manage_password: false,
    umask: '0022',
    privileged: false,
    cap_drop: ['ALL'],
    cap_add: spec.capabilities,
    no_new_privileges: true,
    ...(spec.seccomp === undefined ? {} : { seccomp_profile_path: seccompFile(spec.seccomp) }),
    mask: [...MASKED_PATHS, ...(cgroupVersion === 1 ? [HIERARCHIES] : [])],
    sysctl: SYSCTLS,
    pidns: own,
    ipcns: own,
    utsns: own,
    cgroupns: own,
    ...network(spec),
    shm_size: limits.shmMb * 1024 * 1024,
    r_limits: [limit('core', 1), limit('nofile', limits.nofile), limit('nproc', allowedProcesses())],
    resource_limits: {
      memory: { limit: memory, swap: memory },
      pids: { limit: limits.pids },
      ...(limits.cpus === 0 ? {} : { cpu: { quota: Math.round(limits.cpus * 100_000), period: 100_000 } }),
    },
    mounts: spec.mounts.flatMap((mount) => runtimeMount(mount, overlays)),
    volumes: spec.mounts.flatMap((mount) =>
      mount.kind !== 'volume' || overlays.has(mount.volume)
        ? []
        : [
            {
              Name: mount.volume,
              Dest: mount.target,
              Options: [...(mount.readonly ? ['ro'] : []), ...(mount.fill === true ? [] : ['nocopy'])],
            },
          ],
    ),
    ...(spec.runtime === undefined ? {} : { oci_runtime: spec.runtime }),
  };
}

/**
 * Podman's list of read-only paths cannot be added to, and with cgroup v1 runtimes leave this folder writable: nobody
 * sees it at all then. The limits in it are in Podman's record.
 */
const HIERARCHIES = '/sys/fs/cgroup';

/** Our profile goes to Podman by name. Throws for any other: a file of ours is the only one there is. */
function seccompFile(text: string): string {
  if (JSON.stringify(JSON.parse(readFileSync(SECCOMP_FILE, 'utf8'))) === text) return SECCOMP_FILE;
  throw new Error('a seccomp profile that is no file');
}

function network({ network: wanted }: ContainerSpec): Record<string, unknown> {
  if (wanted === 'none') return { netns: { nsmode: 'none' } };
  return { netns: { nsmode: 'bridge' }, Networks: { [wanted.bridge]: {} } };
}

/**
 * The limit that this process has, which an engine of this machine has as a rule. Without one Podman asks for more than
 * an engine may give that runs without CAP_SYS_RESOURCE. What a container may really have is its limit of processes.
 */
function allowedProcesses(): number {
  const text = /^Max processes +\d+ +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
  return Math.min(DEFAULT_PROCESSES, Number(text ?? DEFAULT_PROCESSES));
}

function runtimeMount(mount: Mount, overlays: Overlays): readonly RuntimeMount[] {
  const { target: destination } = mount;
  if (mount.kind === 'tmpfs') {
    // Podman knows no owner of a tmpfs: one that has one is everybody's, and there is nobody else.
    const options = memoryOptions(mount, mount.uid === undefined ? mount.mode : 0o1777);
    return [{ type: 'tmpfs', source: 'tmpfs', destination, options: [...options, 'notmpcopyup'] }];
  }
  if (mount.kind === 'bind') {
    const options = ['rprivate', mount.readonly ? 'ro' : 'rw', 'nosuid', 'nodev'];
    return [{ type: 'bind', source: mount.source, destination, options }];
  }
  const overlay = overlays.get(mount.volume);
  // A named volume's root would be given to whom the image's folder of that name belongs.
  return overlay === undefined
    ? []
    : [{ type: 'overlay', source: 'overlay', destination, options: [...overlay, ...(mount.readonly ? ['ro'] : [])] }];
}

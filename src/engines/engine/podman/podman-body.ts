import { readFileSync } from 'node:fs';
import type { ContainerSpec, EngineFacts, Mount } from '../../../core/types/engine.ts';
import { labelsOf, memoryOptions } from '../body.ts';
import { MASKED_PATHS, SYSCTLS } from '../hardening/masked-paths.ts';
import { SECCOMP_FILE } from '../hardening/seccomp.ts';

// The body of POST /libpod/containers/create, Podman's own (its SpecGenerator): from a request in
// Docker's form Podman silently drops masks, the cgroup namespace and, where it is rootless, limits. Fields are those of
// 4.3, and mean the same in 5 and 6.

/** A mount that the runtime makes, as in the OCI specification. */
interface RuntimeMount {
  readonly type: string;
  readonly source: string;
  readonly destination: string;
  readonly options: readonly string[];
}

/** The options of an overlay volume by its name, for those that the spec mounts. */
export type Overlays = ReadonlyMap<string, readonly string[]>;

/** The limit of processes of a user that Podman sets by default, where it may. */
const DEFAULT_PROCESSES = 1_048_576;

export interface PodmanParts {
  readonly owner: string;
  readonly overlays: Overlays;
  readonly cgroupVersion: EngineFacts['cgroupVersion'];
}

/** Everything that differs from Podman's defaults, or that its configuration on this machine could change. */
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
    // Variables of the image, of Podman's configuration, of Podman itself, and the host's proxies.
    unsetenvall: true,
    httpproxy: false,
    env_host: false,
    terminal: spec.tty,
    // stdin closes when its client ends.
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
    // Otherwise the host's names are copied. Podman takes no names of the spec next to this: nameLoopback writes them.
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
    mounts: [sharedMemory(limits), ...spec.mounts].flatMap((mount) => runtimeMount(mount, overlays)),
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
 * Podman's list of read-only paths cannot be extended, and with cgroup v1 runtimes leave this folder writable. So it is
 * hidden. The limits in it are in Podman's record.
 */
const HIERARCHIES = '/sys/fs/cgroup';

/** Podman gets the profile by its path. Throws for any other text: only run-claude's profile is in a file. */
function seccompFile(text: string): string {
  if (JSON.stringify(JSON.parse(readFileSync(SECCOMP_FILE, 'utf8'))) === text) return SECCOMP_FILE;
  throw new Error('this seccomp profile is not in a file');
}

function network({ network: wanted }: ContainerSpec): Record<string, unknown> {
  if (wanted === 'none') return { netns: { nsmode: 'none' } };
  return { netns: { nsmode: 'bridge' }, Networks: { [wanted.bridge]: {} } };
}

/**
 * The limit of this process, which the engine usually has too. By default Podman requests a limit that needs
 * CAP_SYS_RESOURCE. What bounds a container is its own limit of processes.
 */
function allowedProcesses(): number {
  const text = /^Max processes +\d+ +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
  return Math.min(DEFAULT_PROCESSES, Number(text ?? DEFAULT_PROCESSES));
}

/** Podman 5 makes its own read-only where it makes no other tmpfs in a read-only root. */
export function sharedMemory({ shmMb }: ContainerSpec['limits']): Mount {
  return { kind: 'tmpfs', target: '/dev/shm', sizeMb: shmMb, mode: 0o1777, noexec: true };
}

function runtimeMount(mount: Mount, overlays: Overlays): readonly RuntimeMount[] {
  const { target: destination } = mount;
  if (mount.kind === 'tmpfs') {
    // Podman cannot set the owner of a tmpfs, so every user may write it. The container has only one user.
    const options = memoryOptions(mount, mount.uid === undefined ? mount.mode : 0o1777);
    return [{ type: 'tmpfs', source: 'tmpfs', destination, options: [...options, 'notmpcopyup'] }];
  }
  if (mount.kind === 'bind') {
    const options = ['rprivate', mount.readonly ? 'ro' : 'rw', 'nosuid', 'nodev'];
    return [{ type: 'bind', source: mount.source, destination, options }];
  }
  const overlay = overlays.get(mount.volume);
  // Podman would give the root of a named volume to the owner of the image's folder.
  return overlay === undefined
    ? []
    : [{ type: 'overlay', source: 'overlay', destination, options: [...overlay, ...(mount.readonly ? ['ro'] : [])] }];
}

import { type Asked, by, type Capability, lost, refused } from './capability.ts';
import { NONE, row } from './container-row.ts';

/** What the wrapper of the RuntimeClass reads from the pod's annotations. */
const confined = (field: string): string => `run-claude.confine: ${field}`;

const NO_GRAPHICS = lost('the session has no graphics processor');
const ON_AN_ENGINE = refused('Leave it out, or run the session on an engine: leave --on out.');
const hasGraphics = ({ spec, policy }: Asked): boolean => spec?.gpus === true || policy?.gpu === true;

/** Every part of a ContainerSpec, and what all containers have in common. */
export const CONTAINER_ROWS = {
  program: row('program, arguments and working directory', {
    docker: 'Entrypoint, Cmd, WorkingDir',
    podman: 'entrypoint, command, work_dir',
    oci: 'process.args, process.cwd',
    pod: 'command, workingDir',
  }),
  environment: row(
    'the whole environment and no other variable',
    {
      docker: 'Env',
      podman: 'env, unsetenvall, httpproxy, env_host',
      oci: 'process.env',
      pod: `env; ${confined('environment')}`,
      pods: 'env; enableServiceLinks: false',
    },
    { lost: { pods: 'the kubelet adds KUBERNETES_SERVICE_HOST and others, which name the API server' } },
  ),
  user: row('user and group', {
    docker: 'User',
    podman: 'user',
    oci: 'process.user',
    slurm: 'process.user, linux.uidMappings: uid 0, which is you outside',
    pod: 'securityContext.runAsUser, runAsGroup',
  }),
  capabilities: row('no capability, except those of the role', {
    docker: 'CapDrop, CapAdd',
    podman: 'cap_drop, cap_add',
    oci: 'process.capabilities',
    pod: 'securityContext.capabilities',
  }),
  'no-new-privileges': row('programs that raise privileges at exec', {
    docker: 'SecurityOpt',
    podman: 'no_new_privileges',
    oci: 'process.noNewPrivileges',
    pod: 'securityContext.allowPrivilegeEscalation',
  }),
  seccomp: row('system calls that are not on the list', {
    docker: 'SecurityOpt, inline',
    podman: 'seccomp_profile_path',
    oci: 'linux.seccomp',
    pod: 'securityContext.seccompProfile, a file of the node that its digest names',
  }),
  'read-only-root': row('changes of programs and settings', {
    docker: 'ReadonlyRootfs',
    podman: 'read_only_filesystem, read_write_tmpfs',
    oci: 'root.readonly',
    pod: 'securityContext.readOnlyRootFilesystem',
  }),
  'masked-paths': row(
    'facts of the host in /proc and /sys',
    { docker: 'MaskedPaths', podman: 'mask', oci: 'linux.maskedPaths', pod: confined('masked'), pods: NONE },
    { lost: { pods: "only the runtime's own list is masked" }, proof: ['masked '], probes: ['read/'] },
  ),
  'read-only-paths': row(
    'changes below /proc and /sys',
    {
      docker: 'ReadonlyPaths',
      podman: "Podman's own list",
      oci: 'linux.readonlyPaths',
      pod: confined('readonly'),
      pods: NONE,
    },
    { lost: { pods: "only the runtime's own list is read-only" }, proof: ['read-only /'], probes: ['write/'] },
  ),
  'kernel-settings': row('low ports and ping for every user', {
    docker: 'Sysctls',
    podman: 'sysctl',
    oci: 'linux.sysctl',
    slurm: 'linux.sysctl, without ping',
    pod: 'securityContext.sysctls',
  }),
  'no-network': row(
    'every network but loopback',
    {
      docker: 'NetworkMode',
      podman: 'netns',
      oci: 'its own network namespace',
      pod: confined('network'),
      pods: 'NetworkPolicy',
    },
    {
      lost: {
        pods: 'the pod has an interface. A NetworkPolicy leaves the agent one port of the gateway, and never stops traffic to the node of the pod',
      },
      isAsked: ({ spec }) => spec?.network === 'none',
      proof: ['no-network'],
      probes: ['network-interfaces', 'route-'],
    },
  ),
  'no-resolver': row('names that leak through the resolver', {
    docker: 'Dns, DnsSearch',
    podman: 'netns',
    oci: 'no resolv.conf is mounted',
    pod: confined('network'),
    pods: 'dnsPolicy, dnsConfig',
  }),
  'loopback-names': row(
    'host names of 127.0.0.1',
    {
      docker: 'ExtraHosts',
      podman: 'use_image_hosts, /etc/hosts',
      oci: NONE,
      slurm: 'none is named',
      pod: 'hostAliases',
    },
    {
      lost: { oci: 'names of --allow-local do not resolve' },
      isAsked: ({ spec }) => (spec?.loopbackNames ?? []).length > 0,
    },
  ),
  'ipc-namespace': row("other containers' shared memory", {
    docker: 'IpcMode',
    podman: 'ipcns',
    oci: 'linux.namespaces',
    pod: 'run-claude.confine',
    pods: 'a pod for each container',
  }),
  'pid-namespace': row("other containers' processes", {
    docker: 'always',
    podman: 'pidns',
    oci: 'linux.namespaces',
    pod: 'shareProcessNamespace: false',
  }),
  'cgroup-namespace': row(
    'names of the control groups',
    {
      docker: 'CgroupnsMode',
      podman: 'cgroupns',
      oci: 'linux.namespaces',
      pod: 'run-claude.confine',
      pods: NONE,
    },
    { lost: { pods: 'the runtime of the node decides' }, proof: ['own-namespaces'], probes: ['cgroup-path'] },
  ),
  'host-name': row("the machine's name", {
    docker: 'Hostname',
    podman: 'hostname, utsns',
    oci: 'hostname, linux.namespaces',
    pod: 'hostname',
  }),
  memory: row(
    'memory above the limit',
    {
      docker: 'Memory',
      podman: 'resource_limits.memory.limit',
      oci: 'linux.resources.memory.limit',
      slurm: '--mem',
      pod: 'resources.limits.memory',
    },
    { onNodes: 'no control group of the job holds its memory to the limit' },
  ),
  swap: row(
    'swap besides memory',
    {
      docker: 'MemorySwap',
      podman: 'resource_limits.memory.swap',
      oci: 'linux.resources.memory.swap',
      slurm: 'ConstrainSwapSpace',
      pod: 'run-claude.confine, resources.limits.memory',
      pods: NONE,
    },
    {
      lost: { pods: 'the kubelet of the node decides' },
      onNodes: 'no control group of the job keeps it from swap',
      proof: ['group-limit memory-and-swap', 'group-limit swap'],
      probes: ['swap-limit'],
    },
  ),
  processors: row('processor time above the limit', {
    docker: 'NanoCpus',
    podman: 'resource_limits.cpu',
    oci: 'linux.resources.cpu',
    slurm: '--cpus-per-task',
    pod: 'resources.limits.cpu',
  }),
  processes: row(
    'fork bombs',
    {
      docker: 'PidsLimit',
      podman: 'resource_limits.pids',
      oci: 'linux.resources.pids',
      slurm: 'process.rlimits, of a user namespace',
      pod: confined('pids'),
      pods: NONE,
    },
    {
      lost: { pods: 'the kubelet has one limit for all pods (podPidsLimit)' },
      proof: ['group-limit pids'],
      probes: ['process-limit', 'fork-bomb'],
    },
  ),
  'process-limits': row(
    'core files, open files',
    { docker: 'Ulimits', podman: 'r_limits', oci: 'process.rlimits', pod: confined('nofile'), pods: NONE },
    {
      lost: { pods: 'the runtime of the node decides' },
      proof: ['process-limit'],
      probes: ['core-limit', 'open-files-bomb'],
    },
  ),
  'memory-directories': row(
    'size, owner, mode and flags of /tmp, /run and /dev/shm',
    {
      docker: 'Tmpfs, ShmSize',
      podman: 'mounts, shm_size',
      oci: 'mounts',
      pod: confined('tmpfs'),
      pods: 'emptyDir with medium Memory and sizeLimit',
    },
    {
      lost: {
        pods: 'noexec, nosuid, nodev, mode and owner have no field; the kubelet measures the size from time to time',
      },
      proof: ['tmpfs '],
      probes: ['mount/tmp', 'mount/run', 'mount/dev/shm', 'fill/'],
    },
  ),
  places: row('workspace, home and sockets', {
    docker: 'Mounts',
    podman: 'mounts, volumes, image_volume_mode',
    oci: 'mounts, by directories of the machine',
    pod: 'volumes: a claim for each, an emptyDir for sockets',
  }),
  devices: row('devices of the machine', {
    docker: 'none is named',
    podman: 'none is named',
    oci: 'linux.resources.devices',
    slurm: 'none is named',
    pod: 'none is named',
  }),
  graphics: {
    what: 'graphics processors of --gpu',
    words: '--gpu',
    cells: {
      docker: by('DeviceRequests'),
      podman: refused('Leave --gpu out. Podman is not supported.', 'ENGINE_NO_GPU'),
      slurm: ON_AN_ENGINE,
      'kubernetes-pod': ON_AN_ENGINE,
      'kubernetes-pods': ON_AN_ENGINE,
      oci: NO_GRAPHICS,
      pod: NO_GRAPHICS,
      pods: NO_GRAPHICS,
    },
    isAsked: hasGraphics,
  },
  'no-log': row(
    'copies of what the agent prints',
    { docker: 'LogConfig', podman: 'log_configuration', oci: 'the caller holds the streams', pod: NONE },
    {
      lost: {
        pod: 'the kubelet keeps the output in files of the node',
        pods: 'the kubelet keeps the output in files of the node, and the container can fill another one of them (/dev/termination-log)',
      },
    },
  ),
  'ends-with-client': row('an agent that outlives its command', {
    docker: 'StdinOnce',
    podman: 'stdin',
    oci: 'the caller holds the streams',
    pod: 'stdin, stdinOnce',
  }),
  'no-restart': row('a second start without a review', {
    docker: 'RestartPolicy',
    podman: 'restart_policy',
    oci: 'the runtime starts once',
    pod: 'restartPolicy: Never',
  }),
  'no-identity': row("a login of the cluster's own", {
    docker: 'no such thing',
    podman: 'no such thing',
    oci: 'no such thing',
    pod: 'automountServiceAccountToken: false',
  }),
} as const satisfies Readonly<Record<string, Capability>>;

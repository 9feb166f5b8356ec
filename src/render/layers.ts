import type { ContainerSpec } from '../types/engine.ts';

/** What a session can be rendered for: the engine's API, an OCI runtime, Kubernetes. */
export type RenderTarget = 'engine' | 'oci' | 'pod';

/** One part of a container's specification, and how each target says it. */
export interface RenderedLayer {
  /** On the command line and in messages. */
  readonly name: string;
  /** What it keeps out, or what it is for. */
  readonly what: string;
  /** The fields that carry it. */
  readonly carried: Readonly<Record<RenderTarget, string>>;
  /** By target: what is lost there. Absent: nothing. */
  readonly lost?: Readonly<Partial<Record<RenderTarget, string>>>;
  /** Whether a container, beside others in one pod, loses it at all. Absent: every container. */
  readonly appliesTo?: (spec: ContainerSpec, beside: readonly ContainerSpec[]) => boolean;
  /** How the lines of init's proof begin that cannot hold without it. */
  readonly proof?: readonly string[];
}

const row = (
  name: string,
  what: string,
  [engine, oci, pod]: readonly [string, string, string],
  more: Pick<RenderedLayer, 'lost' | 'appliesTo' | 'proof'> = {},
): RenderedLayer => ({ name, what, carried: { engine, oci, pod }, ...more });

const NONE = 'no field';

/**
 * Every part of a ContainerSpec, and what all containers have in common. A target that does not carry a part loses that
 * layer: the renderer refuses it unless the user named it.
 */
export const RENDERED_LAYERS: readonly RenderedLayer[] = [
  row('program', 'program, arguments and working directory', [
    'Entrypoint, Cmd, WorkingDir',
    'process.args, process.cwd',
    'command, workingDir',
  ]),
  row(
    'environment',
    'the whole environment and no other variable',
    ['Env', 'process.env', 'env; enableServiceLinks: false'],
    { lost: { pod: 'the kubelet adds KUBERNETES_SERVICE_HOST and others, which name the API server' } },
  ),
  row('user', 'user and group', ['User', 'process.user', 'securityContext.runAsUser, runAsGroup']),
  row('capabilities', 'no capability, except those of the role', [
    'CapDrop, CapAdd',
    'process.capabilities',
    'securityContext.capabilities',
  ]),
  row('no-new-privileges', 'programs that raise privileges at exec', [
    'SecurityOpt',
    'process.noNewPrivileges',
    'securityContext.allowPrivilegeEscalation',
  ]),
  row('seccomp', 'system calls that are not on the list', [
    'SecurityOpt, inline',
    'linux.seccomp',
    'securityContext.seccompProfile, a file of the node that its digest names',
  ]),
  row('read-only-root', 'changes of programs and settings', [
    'ReadonlyRootfs',
    'root.readonly',
    'securityContext.readOnlyRootFilesystem',
  ]),
  row('masked-paths', 'facts of the host in /proc and /sys', ['MaskedPaths', 'linux.maskedPaths', NONE], {
    lost: { pod: "only the runtime's own list is masked" },
    proof: ['masked '],
  }),
  row('read-only-paths', 'changes below /proc and /sys', ['ReadonlyPaths', 'linux.readonlyPaths', NONE], {
    lost: { pod: "only the runtime's own list is read-only" },
    proof: ['read-only /'],
  }),
  row('kernel-settings', 'low ports and ping for every user', ['Sysctls', 'linux.sysctl', 'securityContext.sysctls']),
  row('no-network', 'every network but loopback', ['NetworkMode', 'a network namespace of its own', NONE], {
    lost: { pod: 'all containers of a pod share one network namespace, which has an interface' },
    appliesTo: ({ network }) => network === 'none',
    proof: ['no-network'],
  }),
  row(
    'no-resolver',
    'names that leak through the resolver',
    ['Dns, DnsSearch', 'no resolv.conf is mounted', 'dnsPolicy, dnsConfig'],
    {
      lost: { pod: "the gateway's resolver is that of the whole pod" },
      appliesTo: ({ network }, beside) => network === 'none' && beside.some((one) => one.network !== 'none'),
    },
  ),
  row('loopback-names', 'host names of 127.0.0.1', ['ExtraHosts', NONE, 'hostAliases'], {
    lost: { oci: 'names of --allow-local do not resolve' },
    appliesTo: ({ loopbackNames = [] }) => loopbackNames.length > 0,
  }),
  row('ipc-namespace', "other containers' shared memory", ['IpcMode', 'linux.namespaces', NONE], {
    lost: { pod: 'the containers of a pod share it' },
    proof: ['own-namespaces'],
  }),
  row('pid-namespace', "other containers' processes", ['always', 'linux.namespaces', 'shareProcessNamespace: false']),
  row('cgroup-namespace', 'names of the control groups', ['CgroupnsMode', 'linux.namespaces', NONE], {
    lost: { pod: 'the runtime of the node decides' },
    proof: ['own-namespaces'],
  }),
  row('host-name', "the machine's name", ['Hostname', 'hostname, linux.namespaces', 'hostname']),
  row('memory', 'memory above the limit', ['Memory', 'linux.resources.memory.limit', 'resources.limits.memory']),
  row('swap', 'swap besides memory', ['MemorySwap', 'linux.resources.memory.swap', NONE], {
    lost: { pod: 'the kubelet of the node decides' },
    proof: ['group-limit memory-and-swap', 'group-limit swap'],
  }),
  row('processors', 'processor time above the limit', ['NanoCpus', 'linux.resources.cpu', 'resources.limits.cpu']),
  row('processes', 'fork bombs', ['PidsLimit', 'linux.resources.pids', NONE], {
    lost: { pod: 'the kubelet has one limit for all pods (podPidsLimit)' },
    proof: ['group-limit pids'],
  }),
  row('process-limits', 'core files, open files', ['Ulimits', 'process.rlimits', NONE], {
    lost: { pod: 'the runtime of the node decides' },
    proof: ['process-limit'],
  }),
  row(
    'memory-directories',
    'size, owner, mode and flags of /tmp, /run and /dev/shm',
    ['Tmpfs, ShmSize', 'mounts', 'emptyDir with medium Memory and sizeLimit'],
    {
      lost: {
        pod: 'noexec, nosuid, nodev, mode and owner have no field; the kubelet measures the size from time to time',
      },
      proof: ['tmpfs '],
    },
  ),
  row('places', 'workspace, home and sockets', [
    'Mounts',
    'mounts, by directories of the machine',
    'volumes: a claim for each, an emptyDir for sockets',
  ]),
  row('devices', 'devices of the machine', ['none is named', 'linux.resources.devices', 'none is named']),
  row('graphics', 'graphics processors of --gpu', ['DeviceRequests', NONE, NONE], {
    lost: { oci: 'the session has no graphics processor', pod: 'the session has no graphics processor' },
    appliesTo: ({ gpus }) => gpus === true,
  }),
  row('no-log', 'copies of what the agent prints', ['LogConfig', 'the caller holds the streams', NONE], {
    lost: { pod: 'the kubelet keeps the output in files of the node' },
  }),
  row('ends-with-client', 'an agent that outlives its command', [
    'StdinOnce',
    'the caller holds the streams',
    'stdin, stdinOnce',
  ]),
  row('no-restart', 'a second start without a review', [
    'RestartPolicy',
    'the runtime starts once',
    'restartPolicy: Never',
  ]),
  row('no-identity', "a login of the cluster's own", [
    'no such thing',
    'no such thing',
    'automountServiceAccountToken: false',
  ]),
];

import type { ContainerSpec } from '../../core/types/engine.ts';
import type { Plan } from '../../core/types/plan.ts';

/**
 * What a session can be rendered for: the engine's API, an OCI runtime, Kubernetes. `pod`: one pod of the RuntimeClass in
 * deploy/kubernetes. `pods`: one pod for each container, on any cluster.
 */
export type RenderTarget = 'engine' | 'oci' | 'pod' | 'pods';

/** What a session may have beside agent, gateway and collector. */
export type PlannedParts = Pick<Plan, 'policy' | 'also'>;

/** What of a container decides whether it loses a layer. */
export type LosingSpec = Pick<ContainerSpec, 'network' | 'gpus' | 'loopbackNames'>;

/** One part of a container's specification, or of the session beside its containers, and how each target says it. */
export interface RenderedLayer {
  /** On the command line and in messages. */
  readonly name: string;
  /** What it keeps out, or what it is for. */
  readonly what: string;
  /** The fields that carry it. */
  readonly carried: Readonly<Record<RenderTarget, string>>;
  /** By target: what is lost there. Absent: nothing. */
  readonly lost?: Readonly<Partial<Record<RenderTarget, string>>>;
  /** Whether a container loses it at all. Absent: every container. */
  readonly appliesTo?: (spec: LosingSpec) => boolean;
  /** Of a part beside the containers: whether a plan has it. */
  readonly isPlanned?: (plan: PlannedParts) => boolean;
  /** How the lines of init's proof begin that cannot hold without it. */
  readonly proof?: readonly string[];
  /** How the names of the probes begin that get through without it. */
  readonly probes?: readonly string[];
}

/** The fields by target; `pods` as `pod` where it is not named. */
const row = (
  name: string,
  what: string,
  [engine, oci, pod, pods = pod]: readonly [string, string, string, string?],
  { lost = {}, ...more }: Pick<RenderedLayer, 'lost' | 'appliesTo' | 'isPlanned' | 'proof' | 'probes'> = {},
): RenderedLayer => ({
  name,
  what,
  carried: { engine, oci, pod, pods },
  lost,
  ...more,
});

const NONE = 'no field';
const NO_GRAPHICS = 'the session has no graphics processor';
/** What the wrapper of the RuntimeClass reads from the pod's annotations. */
const confined = (field: string): string => `run-claude.confine: ${field}`;

/** What run-claude itself makes or serves while a session starts or runs. No other form has it. */
const beside = (
  name: string,
  what: string,
  engine: string,
  lost: string,
  isPlanned: (plan: PlannedParts) => boolean,
): RenderedLayer => row(name, what, [engine, NONE, NONE], { lost: { oci: lost, pod: lost, pods: lost }, isPlanned });

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
    ['Env', 'process.env', `env; ${confined('environment')}`, 'env; enableServiceLinks: false'],
    { lost: { pods: 'the kubelet adds KUBERNETES_SERVICE_HOST and others, which name the API server' } },
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
  row(
    'masked-paths',
    'facts of the host in /proc and /sys',
    ['MaskedPaths', 'linux.maskedPaths', confined('masked'), NONE],
    { lost: { pods: "only the runtime's own list is masked" }, proof: ['masked '], probes: ['read/'] },
  ),
  row(
    'read-only-paths',
    'changes below /proc and /sys',
    ['ReadonlyPaths', 'linux.readonlyPaths', confined('readonly'), NONE],
    { lost: { pods: "only the runtime's own list is read-only" }, proof: ['read-only /'], probes: ['write/'] },
  ),
  row('kernel-settings', 'low ports and ping for every user', ['Sysctls', 'linux.sysctl', 'securityContext.sysctls']),
  row(
    'no-network',
    'every network but loopback',
    ['NetworkMode', 'a network namespace of its own', confined('network'), 'NetworkPolicy'],
    {
      lost: {
        pods: 'the pod has an interface. A NetworkPolicy leaves the agent one port of the gateway, and never stops traffic to the node of the pod',
      },
      appliesTo: ({ network }) => network === 'none',
      proof: ['no-network'],
      probes: ['network-interfaces', 'route-'],
    },
  ),
  row('no-resolver', 'names that leak through the resolver', [
    'Dns, DnsSearch',
    'no resolv.conf is mounted',
    confined('network'),
    'dnsPolicy, dnsConfig',
  ]),
  row('loopback-names', 'host names of 127.0.0.1', ['ExtraHosts', NONE, 'hostAliases'], {
    lost: { oci: 'names of --allow-local do not resolve' },
    appliesTo: ({ loopbackNames = [] }) => loopbackNames.length > 0,
  }),
  row('ipc-namespace', "other containers' shared memory", [
    'IpcMode',
    'linux.namespaces',
    'run-claude.confine',
    'a pod for each container',
  ]),
  row('pid-namespace', "other containers' processes", ['always', 'linux.namespaces', 'shareProcessNamespace: false']),
  row(
    'cgroup-namespace',
    'names of the control groups',
    ['CgroupnsMode', 'linux.namespaces', 'run-claude.confine', NONE],
    { lost: { pods: 'the runtime of the node decides' }, proof: ['own-namespaces'], probes: ['cgroup-path'] },
  ),
  row('host-name', "the machine's name", ['Hostname', 'hostname, linux.namespaces', 'hostname']),
  row('memory', 'memory above the limit', ['Memory', 'linux.resources.memory.limit', 'resources.limits.memory']),
  row(
    'swap',
    'swap besides memory',
    ['MemorySwap', 'linux.resources.memory.swap', 'run-claude.confine, resources.limits.memory', NONE],
    {
      lost: { pods: 'the kubelet of the node decides' },
      proof: ['group-limit memory-and-swap', 'group-limit swap'],
      probes: ['swap-limit'],
    },
  ),
  row('processors', 'processor time above the limit', ['NanoCpus', 'linux.resources.cpu', 'resources.limits.cpu']),
  row('processes', 'fork bombs', ['PidsLimit', 'linux.resources.pids', confined('pids'), NONE], {
    lost: { pods: 'the kubelet has one limit for all pods (podPidsLimit)' },
    proof: ['group-limit pids'],
    probes: ['process-limit', 'fork-bomb'],
  }),
  row('process-limits', 'core files, open files', ['Ulimits', 'process.rlimits', confined('nofile'), NONE], {
    lost: { pods: 'the runtime of the node decides' },
    proof: ['process-limit'],
    probes: ['core-limit', 'open-files-bomb'],
  }),
  row(
    'memory-directories',
    'size, owner, mode and flags of /tmp, /run and /dev/shm',
    ['Tmpfs, ShmSize', 'mounts', confined('tmpfs'), 'emptyDir with medium Memory and sizeLimit'],
    {
      lost: {
        pods: 'noexec, nosuid, nodev, mode and owner have no field; the kubelet measures the size from time to time',
      },
      proof: ['tmpfs '],
      probes: ['mount/tmp', 'mount/run', 'mount/dev/shm', 'fill/'],
    },
  ),
  row('places', 'workspace, home and sockets', [
    'Mounts',
    'mounts, by directories of the machine',
    'volumes: a claim for each, an emptyDir for sockets',
  ]),
  row('devices', 'devices of the machine', ['none is named', 'linux.resources.devices', 'none is named']),
  row('graphics', 'graphics processors of --gpu', ['DeviceRequests', NONE, NONE], {
    lost: { oci: NO_GRAPHICS, pod: NO_GRAPHICS, pods: NO_GRAPHICS },
    appliesTo: ({ gpus }) => gpus === true,
  }),
  row('no-log', 'copies of what the agent prints', ['LogConfig', 'the caller holds the streams', NONE], {
    lost: {
      pod: 'the kubelet keeps the output in files of the node',
      pods: 'the kubelet keeps the output in files of the node, and the container can fill another one of them (/dev/termination-log)',
    },
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
  beside(
    'services',
    'servers of [[service]]',
    'containers of their own',
    'the services are not started, and the agent has no way to them',
    ({ policy }) => (policy.services ?? []).length > 0,
  ),
  beside(
    'mcp-programs',
    'MCP servers that are programs',
    'containers of their own',
    'the MCP servers that are programs are not started',
    ({ policy }) => policy.network === 'gateway' && (policy.mcpPrograms ?? []).length > 0,
  ),
  beside(
    'setup',
    'what the setup of [environment] made',
    'layers of workspace and home',
    'the setup has not run: what it makes is missing',
    ({ policy }) => policy.environment?.setup !== undefined,
  ),
  beside(
    'caches',
    'archives of packages',
    'a read-only volume',
    'packages come from the registry',
    ({ policy }) => (policy.caches ?? []).length > 0,
  ),
  beside(
    'other-folders',
    'folders of --also',
    'a base, a layer and a review of their own',
    'the folders are not inside',
    ({ also = [] }) => also.length > 0,
  ),
  beside(
    'ports',
    'pages of --port',
    "run-claude's own listener",
    'nothing shows the pages',
    ({ policy }) => (policy.ports ?? []).length > 0,
  ),
];

/** A plan without what no other form has. */
export function withoutParts<P extends PlannedParts>(plan: P): P {
  const { policy } = plan;
  return {
    ...plan,
    policy: {
      ...policy,
      environment: policy.environment && { ...policy.environment, setup: undefined },
      services: undefined,
      mcpPrograms: undefined,
      caches: undefined,
      ports: undefined,
    },
    also: undefined,
  };
}

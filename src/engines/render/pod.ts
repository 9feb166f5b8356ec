import { createHash } from 'node:crypto';
import { parseUser } from '../../core/host/user.ts';
import type { ContainerSpec, Mount } from '../../core/types/engine.ts';
import { SYSCTLS } from '../engine/hardening/masked-paths.ts';
import { confinementsOf, RUNTIME_CLASS } from './confine.ts';
import { podLabels } from './network-policy.ts';
import { provableArgv } from './provable-argv.ts';

/** A Pod of Kubernetes, as far as it is used. */
export interface Pod {
  readonly apiVersion: 'v1';
  readonly kind: 'Pod';
  readonly metadata: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: PodSpec;
}

export interface PodSpec {
  readonly containers: readonly PodContainer[];
  readonly volumes: readonly PodVolume[];
  readonly restartPolicy: 'Never';
  readonly automountServiceAccountToken: false;
  readonly enableServiceLinks: false;
  readonly shareProcessNamespace: false;
  readonly hostNetwork: false;
  readonly hostPID: false;
  readonly hostIPC: false;
  readonly hostname: string;
  readonly dnsPolicy: 'None' | 'Default';
  readonly dnsConfig?: { readonly nameservers: readonly string[]; readonly searches: readonly string[] };
  readonly hostAliases?: readonly { readonly ip: string; readonly hostnames: readonly string[] }[];
  readonly securityContext: {
    readonly sysctls: readonly { readonly name: string; readonly value: string }[];
    readonly runAsNonRoot?: true;
  };
  readonly runtimeClassName?: string;
}

export interface PodContainer {
  readonly name: string;
  readonly image: string;
  readonly imagePullPolicy: 'IfNotPresent';
  readonly command: readonly string[];
  readonly workingDir: string;
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly stdin: boolean;
  readonly stdinOnce: boolean;
  readonly tty: boolean;
  readonly resources: Readonly<Record<'limits' | 'requests', Readonly<Record<string, string>>>>;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string; readonly readOnly: boolean }[];
  readonly securityContext: {
    readonly runAsUser: number;
    readonly runAsGroup: number;
    readonly privileged: false;
    readonly allowPrivilegeEscalation: false;
    readonly readOnlyRootFilesystem: true;
    readonly capabilities: { readonly drop: readonly ['ALL']; readonly add: readonly string[] };
    readonly seccompProfile: { readonly type: 'Localhost'; readonly localhostProfile: string } | undefined;
  };
}

export interface PodVolume {
  readonly name: string;
  readonly emptyDir?: { readonly medium?: 'Memory'; readonly sizeLimit?: string };
  readonly persistentVolumeClaim?: { readonly claimName: string; readonly readOnly?: boolean };
  readonly configMap?: { readonly name: string; readonly optional: boolean };
}

export interface PodPlace {
  /**
   * Volumes of the gateway's sockets, and the directory that programs expect in each: a new volume of a pod is empty. All
   * other volumes are claims.
   */
  readonly sockets: ReadonlyMap<string, string>;
}

/** 'confined': all containers that are named, in one pod of the RuntimeClass. 'own': this container, in its own pod. */
type PodKind = 'confined' | 'own';

/** The name of the seccomp profile's file on each node: a changed profile is another file. */
export function seccompFile(profile: string): string {
  return `run-claude/${createHash('sha256').update(profile).digest('hex').slice(0, 16)}.json`;
}

/** A pod of these containers. The table of capabilities has what a pod does not support: it is refused before. */
export function podOf(kind: PodKind, specs: readonly ContainerSpec[], place: PodPlace): Pod {
  const [first] = specs;
  if (first === undefined) throw new Error('a pod needs a container');
  const volumes = new Map(specs.flatMap((spec) => volumesOf(kind, spec, place)));
  const isOffline = specs.every(({ network }) => network === 'none');
  const names = specs.flatMap(({ loopbackNames = [] }) => loopbackNames);
  const isRootless = specs.every(({ user }) => parseUser(user).uid !== 0);
  const runtime = kind === 'confined' ? RUNTIME_CLASS : first.runtime;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: first.name,
      labels: { ...first.labels, ...podLabels(first) },
      ...(kind === 'confined' ? { annotations: confinementsOf(specs) } : {}),
    },
    spec: {
      containers: specs.map((spec) => containerOf(kind, spec, place)),
      volumes: [...volumes.values()],
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      shareProcessNamespace: false,
      hostNetwork: false,
      hostPID: false,
      hostIPC: false,
      hostname: first.hostname,
      ...(isOffline
        ? { dnsPolicy: 'None', dnsConfig: { nameservers: ['127.0.0.1'], searches: ['.'] } }
        : { dnsPolicy: 'Default' }),
      ...(names.length === 0 ? {} : { hostAliases: [{ ip: '127.0.0.1', hostnames: names }] }),
      securityContext: {
        sysctls: Object.entries(SYSCTLS).map(([key, value]) => ({ name: key, value })),
        ...(isRootless ? { runAsNonRoot: true } : {}),
      },
      ...(runtime === undefined ? {} : { runtimeClassName: runtime }),
    },
  };
}

/** Kubernetes puts variables in place of `$(NAME)`, in words and in values. */
const unexpanded = (text: string): string => text.replaceAll('$(', () => '$$(');

function containerOf(kind: PodKind, spec: ContainerSpec, place: PodPlace): PodContainer {
  const { uid, gid } = parseUser(spec.user);
  const memory = `${spec.limits.memoryMb}Mi`;
  const cpu = spec.limits.cpus === 0 ? {} : { cpu: String(spec.limits.cpus) };
  return {
    name: spec.role,
    image: spec.image,
    imagePullPolicy: 'IfNotPresent',
    command: provableArgv(kind === 'confined' ? 'pod' : 'pods', spec).map(unexpanded),
    workingDir: spec.workdir,
    env: Object.entries(spec.env).map(([name, value]) => ({ name, value: unexpanded(value) })),
    stdin: spec.stdin === 'stream',
    stdinOnce: spec.stdin === 'stream',
    tty: spec.tty,
    resources: { limits: { memory, ...cpu }, requests: { memory, ...cpu } },
    volumeMounts: [
      ...mountsOf(kind, spec).map((mount) => ({
        name: volumeName(spec, mount),
        mountPath: (mount.kind === 'volume' ? place.sockets.get(mount.volume) : undefined) ?? mount.target,
        readOnly: mount.kind !== 'tmpfs' && mount.readonly,
      })),
    ],
    securityContext: {
      runAsUser: uid,
      runAsGroup: gid,
      privileged: false,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'], add: [...spec.capabilities] },
      seccompProfile:
        spec.seccomp === undefined ? undefined : { type: 'Localhost', localhostProfile: seccompFile(spec.seccomp) },
    },
  };
}

/** What the pod mounts. In the RuntimeClass, directories in memory are the wrapper's. */
function mountsOf(kind: PodKind, { mounts, limits }: ContainerSpec): readonly Mount[] {
  if (kind === 'confined') return mounts.filter((mount) => mount.kind !== 'tmpfs');
  return [...mounts, { kind: 'tmpfs', target: '/dev/shm', sizeMb: limits.shmMb, mode: 0o1777, noexec: true }];
}

function volumesOf(kind: PodKind, spec: ContainerSpec, place: PodPlace): [string, PodVolume][] {
  return mountsOf(kind, spec).map((mount) => {
    const name = volumeName(spec, mount);
    return [name, { name, ...sourceOf(kind, spec, mount, place) }];
  });
}

function sourceOf(kind: PodKind, spec: ContainerSpec, mount: Mount, { sockets }: PodPlace): Omit<PodVolume, 'name'> {
  if (mount.kind === 'tmpfs') return { emptyDir: { medium: 'Memory', sizeLimit: `${mount.sizeMb}Mi` } };
  if (mount.kind === 'bind') throw new Error(`a pod cannot mount ${mount.source} of this machine`);
  if (!sockets.has(mount.volume)) return { persistentVolumeClaim: { claimName: mount.volume } };
  // No other pod has the sockets. The gateway's certificate, where it has one, is public.
  if (kind === 'own' && spec.role === 'agent') return { configMap: { name: `${spec.name}-ca`, optional: true } };
  return { emptyDir: {} };
}

/** At most 63 characters of a-z, 0-9 and '-'. Containers share volumes, but never a directory in memory. */
function volumeName({ role }: ContainerSpec, mount: Mount): string {
  if (mount.kind === 'volume') return mount.volume.slice(-63).replace(/^-+/, '');
  return `${role}${mount.target.replaceAll(/[^a-z0-9]+/gi, '-').toLowerCase()}`.slice(0, 63);
}

import { createHash } from 'node:crypto';
import { SYSCTLS } from '../engine/hardening/masked-paths.ts';
import { parseUser } from '../host/user.ts';
import type { ContainerSpec, Mount } from '../types/engine.ts';
import { provableArgv } from './losses.ts';

/** A Pod of Kubernetes, as far as it is used. */
export interface Pod {
  readonly apiVersion: 'v1';
  readonly kind: 'Pod';
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
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

interface PodVolume {
  readonly name: string;
  readonly emptyDir?: { readonly medium?: 'Memory'; readonly sizeLimit?: string };
  readonly persistentVolumeClaim?: { readonly claimName: string; readonly readOnly?: boolean };
}

export interface PodPlace {
  /** Volumes that only the containers of one pod share, such as the gateway's sockets. All others are claims. */
  readonly shared: ReadonlySet<string>;
}

/** The name of the seccomp profile's file on each node: a changed profile is another file. */
export function seccompFile(profile: string): string {
  return `run-claude/${createHash('sha256').update(profile).digest('hex').slice(0, 16)}.json`;
}

/**
 * A pod of these containers. Directories of the host cannot be mounted: a bind of the plan is an error of the caller.
 * What a pod cannot say is in the table of layers.
 */
export function podOf(name: string, specs: readonly ContainerSpec[], place: PodPlace): Pod {
  const [first] = specs;
  if (first === undefined) throw new Error('a pod needs a container');
  const volumes = new Map(
    specs.flatMap((spec) => [...spec.mounts.map((mount) => volumeOf(spec, mount, place)), shmOf(spec)]),
  );
  const isOffline = specs.every(({ network }) => network === 'none');
  const names = specs.flatMap(({ loopbackNames = [] }) => loopbackNames);
  const isRootless = specs.every(({ user }) => parseUser(user).uid !== 0);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      labels: { ...first.labels, 'run-claude.session': first.sessionId },
    },
    spec: {
      containers: specs.map(containerOf),
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
      ...(first.runtime === undefined ? {} : { runtimeClassName: first.runtime }),
    },
  };
}

/** Kubernetes puts variables in place of `$(NAME)`, in words and in values. */
const unexpanded = (text: string): string => text.replaceAll('$(', () => '$$(');

function containerOf(spec: ContainerSpec): PodContainer {
  const { uid, gid } = parseUser(spec.user);
  const memory = `${spec.limits.memoryMb}Mi`;
  const cpu = spec.limits.cpus === 0 ? {} : { cpu: String(spec.limits.cpus) };
  return {
    name: spec.role,
    image: spec.image,
    imagePullPolicy: 'IfNotPresent',
    command: provableArgv('pod', spec).map(unexpanded),
    workingDir: spec.workdir,
    env: Object.entries(spec.env).map(([name, value]) => ({ name, value: unexpanded(value) })),
    stdin: spec.stdin === 'stream',
    stdinOnce: spec.stdin === 'stream',
    tty: spec.tty,
    resources: { limits: { memory, ...cpu }, requests: { memory, ...cpu } },
    volumeMounts: [
      ...spec.mounts.map((mount) => ({
        name: volumeName(spec, mount),
        mountPath: mount.target,
        readOnly: mount.kind !== 'tmpfs' && mount.readonly,
      })),
      { name: shmOf(spec)[0], mountPath: '/dev/shm', readOnly: false },
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

function volumeOf(spec: ContainerSpec, mount: Mount, { shared }: PodPlace): [string, PodVolume] {
  const name = volumeName(spec, mount);
  if (mount.kind === 'tmpfs') return [name, memoryVolume(name, mount.sizeMb)];
  if (mount.kind === 'bind') throw new Error(`a pod cannot mount ${mount.source} of this machine`);
  if (shared.has(mount.volume)) return [name, { name, emptyDir: {} }];
  return [name, { name, persistentVolumeClaim: { claimName: mount.volume } }];
}

const memoryVolume = (name: string, sizeMb: number): PodVolume => ({
  name,
  emptyDir: { medium: 'Memory', sizeLimit: `${sizeMb}Mi` },
});

function shmOf({ role, limits }: ContainerSpec): [string, PodVolume] {
  const name = `${role}-dev-shm`;
  return [name, memoryVolume(name, limits.shmMb)];
}

/** At most 63 characters of a-z, 0-9 and '-'. Containers share volumes, but never a directory in memory. */
function volumeName({ role }: ContainerSpec, mount: Mount): string {
  if (mount.kind === 'volume') return mount.volume.slice(-63).replace(/^-+/, '');
  return `${role}${mount.target.replaceAll(/[^a-z0-9]+/gi, '-').toLowerCase()}`.slice(0, 63);
}

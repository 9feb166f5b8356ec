import type { ContainerSpec } from '../../core/types/engine.ts';
import { isProved, withProof } from '../engine/hardening/proof.ts';
import { ociConfig } from '../render/oci-config.ts';

/** What a bundle needs besides the specification of its container. */
export interface BundlePlace {
  /** The unpacked root of the image, on the node. */
  readonly rootfs: string;
  /** 'amd64'. */
  readonly arch: string;
  /** Directories of the node, by the engine's volume. */
  readonly volumes: Readonly<Record<string, string>>;
  /** Options of the overlays among the volumes, as the kernel takes them. */
  readonly overlays: Readonly<Record<string, string>>;
  /** The job's user, who is uid 0 inside. */
  readonly uid: number;
  readonly gid: number;
}

/** The kernel shows these of the node's own namespace, which the gateway shares. */
const OF_THE_NETWORK = 'kernel-setting ';

/**
 * config.json of a container in a job: as for any OCI runtime, run by an ordinary user. A user namespace has that user
 * alone, as uid 0. The scheduler's control group holds memory and processors; the number of processes is a limit of the
 * user namespace, which no other process is in. A container with a network shares the node's. Pure.
 */
export function jobBundle(spec: ContainerSpec, place: BundlePlace, how: { readonly isProved: boolean }): object {
  const isNetworked = spec.network !== 'none';
  const known = Object.fromEntries(spec.mounts.flatMap((one) => (one.kind === 'volume' ? [[one.volume, '/']] : [])));
  const owned: ContainerSpec = {
    ...spec,
    user: '0:0',
    mounts: spec.mounts.map((one) =>
      one.kind === 'tmpfs' && one.uid !== undefined ? { ...one, uid: 0, gid: 0 } : one,
    ),
  };
  const config = ociConfig(how.isProved ? withProof(owned) : owned, {
    rootfs: place.rootfs,
    arch: place.arch,
    volumes: { ...known, ...place.volumes },
    networkNamespace: '/',
  });
  const { process, linux, mounts } = config;
  const overlayAt = new Map(
    spec.mounts.flatMap((one) => {
      const options = one.kind === 'volume' ? place.overlays[one.volume] : undefined;
      return options === undefined ? [] : [[one.target, { options, readonly: one.kind === 'volume' && one.readonly }]];
    }),
  );
  const { resources: _resources, cgroupsPath: _path, sysctl, ...rest } = linux;
  return {
    ...config,
    process: {
      ...process,
      args: isNetworked ? withoutProofOf(process.args, OF_THE_NETWORK) : process.args,
      rlimits: [...process.rlimits, { type: 'RLIMIT_NPROC', hard: spec.limits.pids, soft: spec.limits.pids }],
    },
    mounts: mounts
      .filter(({ destination }) => destination !== '/sys/fs/cgroup' && !(isNetworked && destination === '/sys'))
      .map((one) => {
        const overlay = overlayAt.get(one.destination);
        if (overlay !== undefined) {
          const options = [...overlay.options.split(','), ...(overlay.readonly ? ['ro'] : [])];
          return { destination: one.destination, type: 'overlay', source: 'overlay', options };
        }
        // The group of terminals has no number in this user namespace.
        if (one.type === 'devpts')
          return { ...one, options: one.options.filter((option) => !option.startsWith('gid=')) };
        return one;
      })
      .concat(isNetworked ? RESOLVER : [NO_GROUPS]),
    linux: {
      ...rest,
      namespaces: [...linux.namespaces.filter(({ type }) => !isNetworked || type !== 'network'), { type: 'user' }],
      uidMappings: [{ containerID: 0, hostID: place.uid, size: 1 }],
      gidMappings: [{ containerID: 0, hostID: place.gid, size: 1 }],
      // A range of groups needs groups: the kernel's own setting for a new namespace allows none.
      ...(isNetworked ? {} : { sysctl: without(sysctl, 'net.ipv4.ping_group_range') }),
    },
  };
}

/** No control group is the container's own: it sees none. */
const NO_GROUPS = {
  destination: '/sys/fs/cgroup',
  type: 'tmpfs',
  source: 'tmpfs',
  options: ['ro', 'nosuid', 'noexec', 'nodev', 'size=4k', 'mode=555'],
};

/** Of the node, for the names that the gateway looks up. */
const RESOLVER = ['/etc/resolv.conf', '/etc/hosts'].map((file) => ({
  destination: file,
  type: 'bind',
  source: file,
  options: ['rbind', 'rprivate', 'ro', 'nosuid', 'nodev', 'noexec'],
}));

function withoutProofOf(args: readonly string[], start: string): readonly string[] {
  if (!isProved({ argv: args })) return args;
  const [init = '', option = '', proof = '', ...words] = args;
  const lines = proof.split('\n').filter((line) => !line.startsWith(start));
  return [init, option, lines.join('\n'), ...words];
}

function without(values: Readonly<Record<string, string>>, name: string): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(values).filter(([key]) => key !== name));
}

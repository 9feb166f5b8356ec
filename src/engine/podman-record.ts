import type { ContainerSpec } from '../types/engine.ts';
import { compareRecord, type Inspect, type RecordedMount } from './compare-record.ts';
import type { Overlays } from './podman-body.ts';

/** What Podman's own record of a container (GET /libpod/containers/NAME/json) says otherwise than Docker's. */
type PodmanInspect = Omit<Inspect, 'HostConfig' | 'Mounts'> & {
  readonly OCIRuntime?: string;
  readonly BoundingCaps?: readonly string[] | null;
  readonly EffectiveCaps?: readonly string[] | null;
  readonly HostConfig?: Inspect['HostConfig'] & {
    readonly CgroupMode?: string;
    readonly CpuQuota?: number;
    readonly CpuPeriod?: number;
  };
  readonly NetworkSettings?: { readonly Networks?: Readonly<Record<string, unknown>> | null };
  readonly Mounts?: readonly PodmanMount[];
};

type PodmanMount = RecordedMount & { readonly Options?: readonly string[] | null };

/**
 * As compareRecord, of Podman's record. It shows neither masked nor read-only paths, kernel settings, a seccomp
 * profile nor whose the IPC namespace is, and nothing of stdin's end: those are seen from inside (proof.ts), the last is
 * how Podman always does it.
 */
export function comparePodmanRecord(spec: ContainerSpec, record: unknown, overlays: Overlays): readonly string[] {
  const { HostConfig: host = {}, ...inspect } = record as PodmanInspect;
  const { Config: config = {} } = inspect;
  const networks = Object.keys(inspect.NetworkSettings?.Networks ?? {});
  const kept = [...(inspect.BoundingCaps ?? []), ...(inspect.EffectiveCaps ?? [])];
  return compareRecord(
    spec,
    {
      ...inspect,
      Config: {
        ...config,
        StdinOnce: config.OpenStdin,
        // Podman's own word for it.
        Env: (config.Env ?? []).filter((pair) => pair !== `HOSTNAME=${spec.hostname}`),
      },
      HostConfig: {
        ...host,
        NetworkMode: networks.length === 1 ? networks[0] : host.NetworkMode,
        CgroupnsMode: host.CgroupMode,
        // 4.3 says so of any, the host's too: whose it is is seen inside.
        IpcMode: host.IpcMode === 'shareable' ? 'private' : host.IpcMode,
        // Not what was asked to be dropped or added, but what came of it.
        CapDrop: ['ALL'],
        CapAdd: [...new Set(kept)],
        NanoCpus: ((host.CpuQuota ?? 0) / (host.CpuPeriod || 100_000)) * 1e9,
        Runtime: inspect.OCIRuntime,
        Ulimits: (host.Ulimits ?? []).map((one) => ({ ...one, Name: one.Name.replace('RLIMIT_', '').toLowerCase() })),
      },
      Mounts: (inspect.Mounts ?? []).map((mount) => nameOverlay(mount, overlays)),
    },
    'seen inside',
  );
}

/** A mount of the runtime's own, by the volume whose options it has. */
function nameOverlay(mount: PodmanMount, overlays: Overlays): RecordedMount {
  if (mount.Source !== 'overlay') return mount;
  const has = (option: string): boolean => mount.Options?.includes(option) === true;
  const found = [...overlays].find(([, options]) => options.every(has));
  return found === undefined ? mount : { ...mount, Type: 'volume', Name: found[0] };
}

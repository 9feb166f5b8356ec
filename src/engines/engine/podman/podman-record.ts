import type { ContainerSpec } from '../../../core/types/engine.ts';
import { compareRecord, type Inspect, type RecordedMount } from '../compare-record.ts';
import { type Overlays, sharedMemory } from './podman-body.ts';

/** Fields of Podman's own record of a container (GET /libpod/containers/NAME/json) that differ from Docker's. */
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
 * As compareRecord, for Podman's record. It lacks masked and read-only paths, kernel settings, the seccomp profile and
 * the owner of the IPC namespace: those are proved from inside (proof.ts). It lacks the end of stdin too, for which Podman
 * has no option.
 */
export function comparePodmanRecord(spec: ContainerSpec, record: unknown, overlays: Overlays): readonly string[] {
  const { HostConfig: host = {}, ...inspect } = record as PodmanInspect;
  const { Config: config = {} } = inspect;
  const networks = Object.keys(inspect.NetworkSettings?.Networks ?? {});
  const kept = [...(inspect.BoundingCaps ?? []), ...(inspect.EffectiveCaps ?? [])];
  // Names of the loopback are in the container's own layer.
  return compareRecord(
    { ...spec, loopbackNames: [], mounts: [sharedMemory(spec.limits), ...spec.mounts] },
    {
      ...inspect,
      Config: {
        ...config,
        StdinOnce: config.OpenStdin,
        // Podman's own term.
        Env: (config.Env ?? []).filter((pair) => pair !== `HOSTNAME=${spec.hostname}`),
      },
      HostConfig: {
        ...host,
        NetworkMode: networks.length === 1 ? networks[0] : host.NetworkMode,
        CgroupnsMode: host.CgroupMode,
        // 4.3 reports this for every IPC namespace, the host's too. The proof from inside tells them apart.
        IpcMode: host.IpcMode === 'shareable' ? 'private' : host.IpcMode,
        // The resulting capabilities, not the requested changes.
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

/** The volume whose options a mount of the runtime has. */
function nameOverlay(mount: PodmanMount, overlays: Overlays): RecordedMount {
  if (mount.Source !== 'overlay') return mount;
  const has = (option: string): boolean => mount.Options?.includes(option) === true;
  const found = [...overlays].find(([, options]) => options.every(has));
  return found === undefined ? mount : { ...mount, Type: 'volume', Name: found[0] };
}

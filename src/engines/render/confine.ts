import type { ContainerSpec, Mount } from '../../core/types/engine.ts';
import { MASKED_PATHS, READONLY_PATHS } from '../engine/hardening/masked-paths.ts';

/** The RuntimeClass of deploy/kubernetes: its wrapper sets what a PodSpec has no field for. */
export const RUNTIME_CLASS = 'run-claude';

/** A directory in memory that the wrapper mounts: nosuid and nodev always. */
interface ConfinedDirectory {
  readonly path: string;
  readonly kilobytes: number;
  /** Octal. */
  readonly mode: string;
  readonly noexec: boolean;
  readonly uid?: number;
  readonly gid?: number;
}

/** What the wrapper of the RuntimeClass sets for one container: deploy/kubernetes/wrapper.c reads it. */
export interface Confinement {
  readonly version: 1;
  /** 'none': an empty network namespace of its own, and no resolv.conf. 'pod': the network of the pod. */
  readonly network: 'none' | 'pod';
  /** All other variables are removed. */
  readonly environment: readonly string[];
  readonly pids: number;
  readonly nofile: number;
  readonly tmpfs: readonly ConfinedDirectory[];
  readonly masked: readonly string[];
  readonly readonly: readonly string[];
}

/** The pod's annotations for its containers, by key. */
export function confinementsOf(specs: readonly ContainerSpec[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    specs.map((spec) => [`run-claude.confine.${spec.role}`, JSON.stringify(confinementOf(spec))]),
  );
}

function confinementOf({ network, env, limits, mounts }: ContainerSpec): Confinement {
  const shm: ConfinedDirectory = { path: '/dev/shm', kilobytes: limits.shmMb * 1024, mode: '1777', noexec: true };
  return {
    version: 1,
    network: network === 'none' ? 'none' : 'pod',
    environment: Object.keys(env),
    pids: limits.pids,
    nofile: limits.nofile,
    tmpfs: [...mounts.flatMap((mount) => (mount.kind === 'tmpfs' ? [directoryOf(mount)] : [])), shm],
    masked: MASKED_PATHS,
    readonly: READONLY_PATHS,
  };
}

function directoryOf(mount: Mount & { readonly kind: 'tmpfs' }): ConfinedDirectory {
  const { target, sizeMb, mode, noexec, uid, gid } = mount;
  return {
    path: target,
    kilobytes: sizeMb * 1024,
    mode: mode.toString(8),
    noexec,
    ...(uid === undefined ? {} : { uid }),
    ...(gid === undefined ? {} : { gid }),
  };
}

import type { EngineFacts } from '../../core/types/engine.ts';
import { type JobTarget, targetText } from './target.ts';

/** Init proves these layers in each container. */
const PROVED = { cpuLimit: true, memoryLimit: true, pidsLimit: true, seccomp: true, swapLimit: true };

/** What a plan needs to know of an engine whose containers run in jobs. Pure. */
export function jobFacts(
  local: EngineFacts,
  title: string,
  { target, shared }: { readonly target: JobTarget; readonly shared: string },
): EngineFacts {
  return {
    // One for all queues of a shared directory.
    id: `jobs in ${shared}`,
    kind: 'slurm',
    name: `${title} (${target.queue})`,
    version: title,
    apiVersion: '',
    endpoint: targetText(target),
    os: 'linux',
    arch: local.arch,
    kernel: '',
    local: false,
    rootless: true,
    usernsRemap: false,
    hasOneUser: true,
    mountsAnew: true,
    cgroupVersion: 2,
    runtimes: [],
    dataRoot: '',
    ...PROVED,
  };
}

import { RunClaudeError } from '../../core/errors.ts';
import type { EngineFacts } from '../../core/types/engine.ts';
import type { Policy } from '../../core/types/policy.ts';
import { placeOf } from '../../engines/capabilities/columns.ts';
import { refuseUnsupported } from '../../engines/capabilities/refuse.ts';

/** Why an engine runs no session, whatever limits it reports; undefined where it may. */
export function refusalOf(engine: Pick<EngineFacts, 'kind' | 'name' | 'local' | 'version'>): string | undefined {
  if (engine.kind !== 'podman') return undefined;
  if (Number.parseInt(engine.version, 10) < 4)
    return `${engine.name} has no API for every layer of protection (Podman 4 has)`;
  if (engine.local) return undefined;
  return `${engine.name} takes the seccomp profile only as a file of its own machine, and it runs on another machine`;
}

/**
 * Refuses an engine that cannot enforce the policy.
 *
 * @throws {RunClaudeError} ENGINE_NO_LAYER, ENGINE_NO_RUNTIME, ENGINE_NO_GPU; USAGE for what the runtime does not support
 */
export function refuseEngine(engine: EngineFacts, policy: Pick<Policy, 'cpus' | 'runtime'> & Partial<Policy>): void {
  const refusal = refusalOf(engine);
  if (refusal !== undefined)
    throw new RunClaudeError('ENGINE_NO_LAYER', refusal, { hint: 'Use Docker, or Podman on this machine.' });
  refuseUnsupported(placeOf(engine), { policy });
  const missing = [
    ...(engine.seccomp ? [] : ['seccomp']),
    ...(engine.memoryLimit ? [] : ['memory limits']),
    ...(engine.pidsLimit ? [] : ['process limits']),
    ...(policy.cpus === 0 || engine.cpuLimit ? [] : ['processor limits (--cpus)']),
  ];
  if (missing.length > 0) {
    throw new RunClaudeError('ENGINE_NO_LAYER', `${engine.name} cannot set ${missing.join(', ')}`, {
      hint: 'For a rootless engine, delegate the cgroup controllers. run-claude doctor lists what is missing.',
    });
  }
  if (policy.gpu === true && engine.gpus !== true) {
    throw new RunClaudeError('ENGINE_NO_GPU', `${engine.name} has no graphics processors to give`, {
      hint: "Leave --gpu out, or install NVIDIA's container toolkit where the engine runs.",
    });
  }
  if (policy.runtime !== undefined && !engine.runtimes.includes(policy.runtime)) {
    throw new RunClaudeError('ENGINE_NO_RUNTIME', `${engine.name} has no runtime '${policy.runtime}'`, {
      hint: `Use one of its runtimes: ${engine.runtimes.join(', ')}.`,
    });
  }
}

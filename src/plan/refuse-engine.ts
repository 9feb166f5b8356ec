import { RunClaudeError } from '../errors.ts';
import type { EngineFacts } from '../types/engine.ts';
import type { Policy } from '../types/policy.ts';

/** Why no session runs on that engine, whatever it says of its limits; undefined where that is no reason. */
export function refusalOf(engine: Pick<EngineFacts, 'kind' | 'name' | 'local' | 'version'>): string | undefined {
  if (engine.kind !== 'podman') return undefined;
  if (Number.parseInt(engine.version, 10) < 4) return `${engine.name} has no API to ask for every layer (Podman 4 has)`;
  if (engine.local) return undefined;
  return `${engine.name} takes our seccomp profile only as a file of its own machine, which this one is not`;
}

/** Throws RunClaudeError ENGINE_NO_LAYER, ENGINE_NO_RUNTIME for an engine that would silently drop a part of the policy. */
export function refuseEngine(engine: EngineFacts, policy: Pick<Policy, 'cpus' | 'runtime'>): void {
  const refusal = refusalOf(engine);
  if (refusal !== undefined)
    throw new RunClaudeError('ENGINE_NO_LAYER', refusal, { hint: 'Use Docker, or Podman on this machine.' });
  const missing = [
    ...(engine.seccomp ? [] : ['seccomp']),
    ...(engine.memoryLimit ? [] : ['memory limits']),
    ...(engine.pidsLimit ? [] : ['process limits']),
    ...(policy.cpus === 0 || engine.cpuLimit ? [] : ['processor limits (--cpus)']),
  ];
  if (missing.length > 0) {
    throw new RunClaudeError('ENGINE_NO_LAYER', `${engine.name} cannot set ${missing.join(', ')}`, {
      hint: 'For a rootless engine, delegate the cgroup controllers; run-claude doctor says what is missing.',
    });
  }
  if (policy.runtime !== undefined && !engine.runtimes.includes(policy.runtime)) {
    throw new RunClaudeError('ENGINE_NO_RUNTIME', `${engine.name} has no runtime '${policy.runtime}'`, {
      hint: `It has: ${engine.runtimes.join(', ')}.`,
    });
  }
}
